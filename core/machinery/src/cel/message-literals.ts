/** Under this name the text that cel-js reads calls for what `Type{field: value}` makes. */
export const messageFunction = '__message';

const tokens =
  /(?<space>\s+|\/\/[^\n]*)|(?<text>[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(?<name>[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)|[\s\S]/g;

/**
 * The source with each `Object.spec{replicas: 1, ?paused: x}` as a call of a function with a map,
 * `__message("Object.spec", {"replicas": 1, "?paused": x})`: cel-js knows no literals of messages. Only those of the types
 * `roots` and of what is below them are read; others stay, and are refused.
 */
export function withMessageCalls(source: string, roots: readonly string[]): string {
  const isType = (name: string) => roots.includes(name.split('.')[0]?.trim() ?? '');
  const isMessage: boolean[] = [];
  let result = '';
  let isFieldNext = false;
  let isOptional = false;
  let isMessageNext = false;
  for (const { 0: token, index, groups } of source.matchAll(tokens)) {
    const isName = groups?.name !== undefined;
    if (isName && isFieldNext) {
      result += JSON.stringify(isOptional ? `?${token}` : token);
      isFieldNext = false;
      isOptional = false;
    } else if (isName && isType(token) && /^\s*\{/.test(source.slice(index + token.length))) {
      result += `${messageFunction}(${JSON.stringify(token.replace(/\s/g, ''))}, `;
      isMessageNext = true;
    } else if (token === '?' && isFieldNext) isOptional = true;
    else result += token;
    if (token === '{' || token === '(' || token === '[') {
      isMessage.push(isMessageNext);
      isFieldNext = isMessageNext;
      isMessageNext = false;
    } else if (token === '}' || token === ')' || token === ']') {
      if (isMessage.pop() === true) result += ')';
      isFieldNext = false;
    } else if (token === ',') isFieldNext = isMessage.at(-1) === true;
  }
  return result;
}
