/** `registry/path:tag`, in parts. */
export interface ImageName {
  /** Without registry, tag and digest: `coreos/etcd`, `busybox`. */
  readonly path: string;
  /** As Docker's short names have it when there is none: `docker.io`. */
  readonly registry: string;
  /** `latest` when absent. */
  readonly tag: string;
}

const pathPart = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]+)?';
const grammar = new RegExp(
  `^(?:${host}/)?${pathPart}(?:/${pathPart})*(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** Whether a text is the name of an image. Source: the reference grammar of OCI distribution. */
export function isImageName(text: string): boolean {
  return text.length <= 1_024 && grammar.test(text);
}

/** Follows the reference grammar of OCI distribution: the first part is a registry if it looks like a host name. */
export function parseImageName(image: string): ImageName {
  const [name = '', digest] = image.split('@');
  const parts = name.split('/');
  const first = parts[0] ?? '';
  const hasRegistry = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  const rest = (hasRegistry ? parts.slice(1) : parts).join('/');
  const colon = rest.lastIndexOf(':');
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? (digest === undefined ? 'latest' : digest) : rest.slice(colon + 1);
  return { registry: hasRegistry ? first : 'docker.io', path: path.replace(/^library\//, ''), tag };
}
