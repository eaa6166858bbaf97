import { dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, record, text } from '../json.js';

const form = '; desired format: https://host[/path]';

/** Where a webhook is asked: at a URL or at a service, never both. */
export function webhookClientErrors(clientConfig: unknown, path: string): readonly FieldError[] {
  const { url, service } = record(clientConfig);
  if ((url === undefined) === (service === undefined)) {
    return [fieldError.required(path, 'exactly one of url or service is required')];
  }
  return service === undefined
    ? urlErrors(text(url) ?? '', `${path}.url`)
    : serviceErrors(record(service), `${path}.service`);
}

function urlErrors(url: string, path: string): readonly FieldError[] {
  const [, scheme = '', authority = '', rest = ''] =
    /^(?:([a-zA-Z][\w+.-]*):)?(?:\/\/([^/?#]*))?(.*)$/s.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const [, query = '', fragment = ''] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? [];
  return [
    ...(scheme.toLowerCase() === 'https'
      ? []
      : [fieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [fieldError.invalid(path, host, `host must be specified${form}`)] : []),
    ...(at < 0
      ? []
      : [fieldError.invalid(path, authority.slice(0, at), 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [fieldError.invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [fieldError.invalid(path, query, 'query parameters are not permitted in the URL')]),
  ];
}

function serviceErrors({ name, namespace, port, path: urlPath }: JsonRecord, path: string): readonly FieldError[] {
  const number = Number(port);
  return [
    ...((text(name) ?? '') === '' ? [fieldError.required(`${path}.name`, 'service name is required')] : []),
    ...((text(namespace) ?? '') === ''
      ? [fieldError.required(`${path}.namespace`, 'service namespace is required')]
      : []),
    ...(number < 1 || number > 65_535
      ? [fieldError.invalid(`${path}.port`, number, 'port is not valid: must be between 1 and 65535, inclusive')]
      : []),
    ...pathErrors(text(urlPath) ?? '', `${path}.path`),
  ];
}

function pathErrors(urlPath: string, path: string): readonly FieldError[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [fieldError.invalid(path, urlPath, 'segment[0] may not be empty')];
  const errors = urlPath.startsWith('/') ? [] : [fieldError.invalid(path, urlPath, "must start with a '/'")];
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  segments.forEach((segment, index) => {
    const problems =
      segment === '' ? [' may not be empty'] : dns1123SubdomainErrors(segment).map((each) => `: ${each}`);
    for (const problem of problems) errors.push(fieldError.invalid(path, urlPath, `segment[${index}]${problem}`));
  });
  return errors;
}
