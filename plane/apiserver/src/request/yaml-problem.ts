import type { YAMLParseError } from 'yaml';

type Code = YAMLParseError['code'];

/** What Go's reader says where ours gives a code. It is read further by some, so that not every text is the same. */
const problems: Partial<Record<Code, string>> = {
  BAD_DQ_ESCAPE: 'found unknown escape character',
  BAD_SCALAR_START: 'found character that cannot start any token',
  BLOCK_AS_IMPLICIT_KEY: 'mapping values are not allowed in this context',
  MULTILINE_IMPLICIT_KEY: "could not find expected ':'",
  TAB_AS_INDENT: 'found character that cannot start any token',
};

/** `line 2: did not find expected key` */
export function yamlProblem({ code, message, pos }: YAMLParseError, text: string): string {
  const [start] = pos;
  if (/^Flow (?:sequence|map)/.test(message)) return atLine(lineOf(text, text.length), flowProblem(message, text));
  if (/^Missing closing ["']/.test(message)) return atLine(lineOf(text, text.length), 'found unexpected end of stream');
  return atLine(lineOf(text, start), problems[code] ?? 'did not find expected key');
}

/** Go names the anchor that an alias lacks, and no line. */
export function aliasProblem(message: string): string {
  const anchor = /^Unresolved alias .*: (.+)$/.exec(message)?.[1];
  return anchor === undefined ? 'document contains excessive aliasing' : `unknown anchor '${anchor}' referenced`;
}

/** A collection in brackets that is not closed: what was expected, depends on what is there last. */
function flowProblem(message: string, text: string): string {
  const isList = message.startsWith('Flow sequence');
  if (/[[{,:]\s*$/.test(text)) return 'did not find expected node content';
  return `did not find expected ',' or '${isList ? ']' : '}'}'`;
}

function lineOf(text: string, offset: number): number {
  const before = text.slice(0, offset).trimEnd();
  return before.split('\n').length;
}

function atLine(line: number, problem: string): string {
  return `line ${line}: ${problem}`;
}
