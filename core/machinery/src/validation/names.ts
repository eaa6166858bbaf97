/**
 * The rules of names. Each function gives what is wrong, in the words of kube-apiserver; nothing when all is well.
 */
type Rule = (text: string) => readonly string[];

interface NameForm {
  readonly longestBytes: number;
  /** What upstream calls them in its refusal. */
  readonly unit: 'bytes' | 'characters';
  readonly pattern: string;
  readonly words: string;
  readonly examples: readonly string[];
}

const label: NameForm = {
  longestBytes: 63,
  unit: 'characters',
  pattern: '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
  words:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ['my-name', '123-abc'],
};

const subdomain: NameForm = {
  longestBytes: 253,
  unit: 'characters',
  pattern: `${label.pattern}(\\.${label.pattern})*`,
  words:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
};

const wildcardSubdomain: NameForm = {
  longestBytes: 253,
  unit: 'characters',
  pattern: `\\*\\.${subdomain.pattern}`,
  words:
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  examples: ['*.example.com'],
};

const label1035: NameForm = {
  longestBytes: 63,
  unit: 'characters',
  pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
  words:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ['my-name', 'abc-123'],
};

const qualifiedNamePart: NameForm = {
  longestBytes: 63,
  unit: 'bytes',
  pattern: '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
  words:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyName', 'my.name', '123-abc'],
};

const labelValue: NameForm = {
  longestBytes: 63,
  unit: 'bytes',
  pattern: '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
  words:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
};

/** The name of a namespace, and of what becomes one label of a DNS name. */
export const dns1123LabelErrors: Rule = (text) => formErrors(label, text);

/** The name of most objects. */
export const dns1123SubdomainErrors: Rule = (text) => formErrors(subdomain, text);

/** A host of an Ingress that stands for many. */
export const wildcardSubdomainErrors: Rule = (text) => formErrors(wildcardSubdomain, text);

/** The name of a Service. */
export const dns1035LabelErrors: Rule = (text) => formErrors(label1035, text);

/** The value of a label. */
export const labelValueErrors: Rule = (text) => formErrors(labelValue, text);

/** The key of a label or annotation, a finalizer, a condition's type: `name` or `prefix.example.com/name`. */
export const qualifiedNameErrors: Rule = (text) => {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    const form = withExamples(qualifiedNamePart.words, qualifiedNamePart);
    return [`a valid label key ${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  if (second !== undefined) {
    if (first === '') errors.push('prefix part must be non-empty');
    else errors.push(...dns1123SubdomainErrors(first).map((error) => `prefix part ${error}`));
  }
  const name = second ?? first;
  if (name === '') errors.push('name part must be non-empty');
  return [...errors, ...formErrors(qualifiedNamePart, name).map((error) => `name part ${error}`)];
};

function formErrors(form: NameForm, text: string): readonly string[] {
  const errors: string[] = [];
  if (byteLength(text) > form.longestBytes) {
    errors.push(`must be no more than ${form.longestBytes} ${form.unit}`);
  }
  if (!expressionOf(form).test(text)) errors.push(withExamples(form.words, form));
  return errors;
}

const expressions = new WeakMap<NameForm, RegExp>();

function expressionOf(form: NameForm): RegExp {
  const known = expressions.get(form);
  if (known !== undefined) return known;
  const made = new RegExp(`^(?:${form.pattern})$`);
  expressions.set(form, made);
  return made;
}

/** Upstream puts two spaces before each "or", and so do we. */
function withExamples(words: string, form: NameForm): string {
  const examples = form.examples.map((example) => `'${example}'`).join(',  or ');
  return `${words} (e.g. ${examples}, regex used for validation is '${form.pattern}')`;
}

/** In UTF-8. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
