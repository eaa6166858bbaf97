/**
 * Does something so many times, first once, then two at once, four, and so on; ends with the batch in which one failed. A
 * quota that is used up, or a template that is refused, costs few requests so. Gives what failed first; `undefined` if nothing did.
 * Source: slowStartBatch of kube-controller-manager.
 */
export async function slowStart<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<unknown> {
  let size = 1;
  for (let at = 0; at < items.length; at += size / 2) {
    const batch = items.slice(at, at + size);
    const failures = (await Promise.allSettled(batch.map(work))).filter(({ status }) => status === 'rejected');
    const [first] = failures;
    if (first?.status === 'rejected') return first.reason;
    size *= 2;
  }
  return undefined;
}
