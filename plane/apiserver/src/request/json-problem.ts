/** What Go's decoder says of a text that is no JSON. */
export function syntaxProblem(text: string): string {
  try {
    new Scan(text).run();
  } catch (error) {
    if (error instanceof Found) return error.message;
    throw error;
  }
  return endOfInput;
}

const endOfInput = 'unexpected end of JSON input';

class Found extends Error {}

/** Goes over a text by the grammar, up to the first character that does not fit. */
class Scan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Without recursion: a text may be nested without end. */
  run(): void {
    const open: ('{' | '[')[] = [];
    this.#value(open);
    for (;;) {
      this.#space();
      const level = open.at(-1);
      if (level === undefined) {
        if (this.#at < this.#text.length) this.#fail('after top-level value');
        return;
      }
      const close = level === '{' ? '}' : ']';
      if (this.#take(close)) open.pop();
      else if (!this.#take(',')) this.#fail(level === '{' ? 'after object key:value pair' : 'after array element');
      else this.#member(open, level);
    }
  }

  #member(open: ('{' | '[')[], level: '{' | '['): void {
    if (level === '{') this.#key();
    this.#value(open);
  }

  #key(): void {
    this.#space();
    if (this.#text[this.#at] !== '"') this.#fail('looking for beginning of object key string');
    this.#string();
    this.#space();
    if (!this.#take(':')) this.#fail('after object key');
  }

  /** A scalar as a whole; of an object or list the beginning, up to its first scalar. */
  #value(open: ('{' | '[')[]): void {
    for (;;) {
      this.#space();
      const first = this.#text[this.#at] ?? '';
      if (first === '{' || first === '[') {
        this.#at += 1;
        this.#space();
        if (this.#take(first === '{' ? '}' : ']')) return;
        open.push(first);
        if (first === '{') this.#key();
        continue;
      }
      this.#scalar(first);
      return;
    }
  }

  #scalar(first: string): void {
    const word = ['true', 'false', 'null'].find((known) => known.startsWith(first));
    if (first === '"') this.#string();
    else if (/[-0-9]/.test(first)) this.#number();
    else if (word === undefined || first === '') this.#fail('looking for beginning of value');
    else this.#word(word);
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === '"') break;
      if (character === undefined || character < ' ') this.#fail('in string literal');
      this.#at += 1;
      if (character !== '\\') continue;
      if (this.#take('u')) {
        for (let digit = 0; digit < 4; digit += 1) this.#expect(/[0-9a-fA-F]/, 'in \\u hexadecimal character escape');
      } else this.#expect(/["\\/bfnrt]/, 'in string escape code');
    }
    this.#at += 1;
  }

  #number(): void {
    if (this.#take('-') && !/[0-9]/.test(this.#text[this.#at] ?? '')) this.#fail('in numeric literal');
    if (!this.#take('0')) this.#digits();
    if (this.#take('.')) {
      this.#expect(/[0-9]/, 'after decimal point in numeric literal');
      this.#digits();
    }
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-');
      this.#expect(/[0-9]/, 'in exponent of numeric literal');
      this.#digits();
    }
  }

  #word(word: string): void {
    for (const letter of word) {
      if (!this.#take(letter)) this.#fail(`in literal ${word} (expecting '${letter}')`);
    }
  }

  #digits(): void {
    while (/[0-9]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(form: RegExp, place: string): void {
    if (!form.test(this.#text[this.#at] ?? '')) this.#fail(place);
    this.#at += 1;
  }

  #fail(place: string): never {
    const character = this.#text[this.#at];
    throw new Found(character === undefined ? endOfInput : `invalid character ${quoted(character)} ${place}`);
  }
}

/** One character as Go quotes it; of what is not ASCII the first byte. */
function quoted(character: string): string {
  if (character === "'") return "'\\''";
  if (character === '"') return "'\"'";
  const byte = Buffer.from(character)[0] ?? 0;
  const text = JSON.stringify(byte < 0x80 ? character : String.fromCharCode(byte)).slice(1, -1);
  return `'${text.replace(/^\\u00([0-9a-f]{2})$/, '\\x$1')}'`;
}
