import { Document, isPair, isScalar, type Pair, Scalar, visit } from 'yaml';

/** What YAML 1.1 reads as something else than a text: Go's writer puts it in double quotes. */
const otherThanText =
  /^(?:~|null|true|false|y|n|yes|no|on|off|[-+]?\.inf|\.nan|<<|=|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-f_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|[-+]?\.[0-9_]+(?:e[-+]?[0-9]+)?|\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d.*)?|)$/i;

/** An object as YAML in the form of Go's writer: keys sorted, lists at the margin of their key. */
export function yamlText(object: unknown): string {
  const document = new Document(object, { aliasDuplicateObjects: false, sortMapEntries: compareKeys });
  visit(document, { Scalar: (key, node) => (isScalar(node) ? quote(node, key === 'key') : undefined) });
  return document.toString({ directives: false, indentSeq: false, lineWidth: 0, singleQuote: true });
}

function quote(node: Scalar, isKey: boolean): void {
  const { value } = node;
  if (typeof value !== 'string') return;
  if (otherThanText.test(value) || /[^\P{Cc}\n]/u.test(value)) node.type = Scalar.QUOTE_DOUBLE;
  else if (value.includes('\n')) node.type = isKey ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL;
}

/** By letters, then numbers by their amount: `a2` before `a10`, and what is neither before both. */
function compareKeys(left: Pair, right: Pair): number {
  const [a, b] = [textOf(left), textOf(right)];
  const tokens = /\d+|./gsu;
  const [as, bs] = [a.match(tokens) ?? [], b.match(tokens) ?? []];
  for (const [index, token] of as.entries()) {
    const other = bs[index];
    if (other === undefined) return 1;
    if (token === other) continue;
    const difference = rank(token) - rank(other) || Number(token) - Number(other);
    return Number.isNaN(difference) || difference === 0 ? (token < other ? -1 : 1) : difference;
  }
  return as.length - bs.length;
}

function textOf(pair: Pair): string {
  return isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : '';
}

function rank(token: string): number {
  if (/^\p{L}/u.test(token)) return 2;
  return /^\d/.test(token) ? 1 : 0;
}
