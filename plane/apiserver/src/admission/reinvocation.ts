/**
 * Who of those that change objects is asked a second time, because another one has changed the object since: the rule of
 * webhooks and of policies with `reinvocationPolicy: IfNeeded`. The second time is the last.
 */
export class Reinvocation<Asked> {
  private readonly heard = new Set<Asked>();
  private readonly due = new Set<Asked>();
  private isSecondPass = false;
  private isNeeded = false;

  /** Whether anything was changed: then everybody who changes objects has a second turn. */
  get wantsSecondPass(): boolean {
    return this.isNeeded;
  }

  /** @param isChanged whether the object is another one than at the end of the first pass. */
  beginSecondPass(isChanged: boolean): void {
    this.isSecondPass = true;
    if (isChanged) this.callBack();
  }

  isAsked(asked: Asked): boolean {
    return !this.isSecondPass || this.due.has(asked);
  }

  /** `asked` was asked, in its turn. What it changed itself is no reason to ask it again. */
  note(asked: Asked, told: { readonly isChanged: boolean; readonly policy: unknown }): void {
    if (told.isChanged) this.callBack();
    this.isNeeded ||= told.isChanged;
    if (told.policy === 'IfNeeded') this.heard.add(asked);
  }

  private callBack(): void {
    for (const asked of this.heard) this.due.add(asked);
    this.heard.clear();
  }
}
