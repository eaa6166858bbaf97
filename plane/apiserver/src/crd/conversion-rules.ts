import { dns1035LabelErrors, dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, count, isRecord, type JsonRecord, list, record, text } from '../json.js';

const path = 'spec.conversion';
const strategies = ['None', 'Webhook'];
const reviewVersions = ['v1', 'v1beta1'];

/** The rules of `spec.conversion`; fields are named as in upstream's internal type, without the `webhook` between. */
export function conversionErrors(crd: ApiObject): readonly FieldError[] {
  const conversion = record(at(crd, 'spec', 'conversion'));
  const strategy = text(conversion.strategy) ?? '';
  const webhook = record(conversion.webhook);
  const { clientConfig } = webhook;
  const versions = list(webhook.conversionReviewVersions);
  if (strategy === '') return [fieldError.required(`${path}.strategy`)];
  const errors = strategies.includes(strategy)
    ? []
    : [fieldError.notSupported(`${path}.strategy`, strategy, strategies)];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (clientConfig !== undefined) errors.push(fieldError.forbidden(`${path}.webhookClientConfig`, detail));
    if (versions.length > 0) errors.push(fieldError.forbidden(`${path}.conversionReviewVersions`, detail));
    return errors;
  }
  if (at(crd, 'spec', 'preserveUnknownFields') === true) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.push(fieldError.invalid(`${path}.strategy`, strategy, detail));
  }
  const clientErrors = isRecord(clientConfig)
    ? clientConfigErrors(clientConfig)
    : [fieldError.required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook')];
  return [...errors, ...clientErrors, ...reviewVersionErrors(versions)];
}

function clientConfigErrors({ url, service, caBundle }: JsonRecord): readonly FieldError[] {
  const field = `${path}.webhookClientConfig`;
  const isOne = (url === undefined) !== (service === undefined);
  return [
    ...(isOne ? [] : [fieldError.required(field, 'exactly one of url or service is required')]),
    ...(isOne && url !== undefined ? urlErrors(text(url) ?? '', `${field}.url`) : []),
    ...(isOne && service !== undefined ? serviceErrors(record(service), `${field}.service`) : []),
    ...caBundleErrors(text(caBundle) ?? '', `${field}.caBundle`),
  ];
}

const wantedForm = '; desired format: https://host[/path]';

function urlErrors(url: string, field: string): readonly FieldError[] {
  if (!URL.canParse(url)) {
    return [
      fieldError.invalid(field, '', `'https' is the only allowed URL scheme${wantedForm}`),
      fieldError.invalid(field, '', `host must be specified${wantedForm}`),
    ];
  }
  const { protocol, host, username, password, hash, search } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const user = password === '' ? username : `${username}:${password}`;
  const refused = (value: string, detail: string) => [fieldError.invalid(field, value, detail)];
  return [
    ...(scheme === 'https' ? [] : refused(scheme, `'https' is the only allowed URL scheme${wantedForm}`)),
    ...(host === '' ? refused(host, `host must be specified${wantedForm}`) : []),
    ...(user === '' ? [] : refused(user, 'user information is not permitted in the URL')),
    ...(hash === '' ? [] : refused(hash.slice(1), 'fragments are not permitted in the URL')),
    ...(search === '' ? [] : refused(search.slice(1), 'query parameters are not permitted in the URL')),
  ];
}

function serviceErrors(service: JsonRecord, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if ((text(service.name) ?? '') === '') errors.push(fieldError.required(`${field}.name`, 'service name is required'));
  if ((text(service.namespace) ?? '') === '') {
    errors.push(fieldError.required(`${field}.namespace`, 'service namespace is required'));
  }
  const port = count(service.port) ?? 443;
  if (port < 1 || port > 65_535) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive';
    errors.push(fieldError.invalid(`${field}.port`, port, detail));
  }
  return [...errors, ...pathErrors(text(service.path) ?? '', `${field}.path`)];
}

function pathErrors(urlPath: string, field: string): readonly FieldError[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [fieldError.invalid(field, urlPath, 'segment[0] may not be empty')];
  if (!urlPath.startsWith('/')) return [fieldError.invalid(field, urlPath, "must start with a '/'")];
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  return segments.flatMap((segment, index) => {
    if (segment === '') return [fieldError.invalid(field, urlPath, `segment[${index}] may not be empty`)];
    return dns1123SubdomainErrors(segment).map((problem) =>
      fieldError.invalid(field, urlPath, `segment[${index}]: ${problem}`),
    );
  });
}

function caBundleErrors(bundle: string, field: string): readonly FieldError[] {
  if (bundle === '') return [];
  const hasCertificate = Buffer.from(bundle, 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE-----');
  if (hasCertificate) return [];
  const detail = 'unable to load root certificates: unable to parse bytes as PEM block';
  return [fieldError.invalid(field, '<snip>', detail)];
}

function reviewVersionErrors(versions: readonly unknown[]): readonly FieldError[] {
  const field = `${path}.conversionReviewVersions`;
  if (versions.length === 0) return [fieldError.required(field)];
  const errors = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) {
      return [fieldError.invalid(`${field}[${index}]`, version, 'duplicate version')];
    }
    return dns1035LabelErrors(text(version) ?? '').map((problem) =>
      fieldError.invalid(`${field}[${index}]`, version, problem),
    );
  });
  if (versions.some((version) => reviewVersions.includes(text(version) ?? ''))) return errors;
  const detail = `must include at least one of ${reviewVersions.join(', ')}`;
  return [...errors, fieldError.invalid(field, versions, detail)];
}
