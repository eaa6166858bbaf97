import { type FieldError, fieldError } from '@castellan/machinery';
import { count, type JsonRecord, list, record, records, text } from '../json.js';
import { portReferenceErrors } from '../strategies/port-names.js';
import { notNegative, oneOf, requiredText } from './scalar-rules.js';

const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;
const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'] as const;
type Handler = (typeof probeHandlers)[number] | (typeof lifecycleHandlers)[number];

const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
const schemes = ['HTTP', 'HTTPS'];
const headerText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/** The rules of a container's lifecycle hooks and probes; `graceSeconds` is how long the pod has for its end. */
export function handlerErrors(container: JsonRecord, path: string, graceSeconds: number): readonly FieldError[] {
  const lifecycle = record(container.lifecycle);
  return [
    ...['postStart', 'preStop'].flatMap((hook) => {
      if (lifecycle[hook] === undefined) return [];
      const place = { path: `${path}.lifecycle.${hook}`, graceSeconds };
      return oneHandler(record(lifecycle[hook]), lifecycleHandlers, place);
    }),
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) =>
      container[name] === undefined ? [] : probeErrors(record(container[name]), `${path}.${name}`, graceSeconds),
    ),
  ];
}

function probeErrors(probe: JsonRecord, path: string, graceSeconds: number): readonly FieldError[] {
  const { terminationGracePeriodSeconds: grace, successThreshold } = probe;
  const gracePath = `${path}.terminationGracePeriodSeconds`;
  const isReadiness = path.endsWith('readinessProbe');
  return [
    ...oneHandler(probe, probeHandlers, { path, graceSeconds }),
    ...probeNumbers.flatMap((field) => notNegative(probe[field], `${path}.${field}`)),
    ...(typeof grace === 'number' && grace <= 0
      ? [fieldError.invalid(gracePath, grace, 'must be greater than 0')]
      : []),
    ...(isReadiness && grace !== undefined
      ? [fieldError.invalid(gracePath, grace, 'must not be set for readinessProbes')]
      : []),
    ...(!isReadiness && successThreshold !== 1
      ? [fieldError.invalid(`${path}.successThreshold`, successThreshold ?? 0, 'must be 1')]
      : []),
  ];
}

interface HandlerPlace {
  readonly path: string;
  readonly graceSeconds: number;
}

function oneHandler(owner: JsonRecord, handlers: readonly Handler[], place: HandlerPlace): readonly FieldError[] {
  const { path } = place;
  const [first, ...others] = handlers.filter((handler) => owner[handler] !== undefined);
  if (first === undefined) return [fieldError.required(path, 'must specify a handler type')];
  return [
    ...handlerRules(first, record(owner[first]), place),
    ...others.map((other) => fieldError.forbidden(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ];
}

function handlerRules(
  handler: Handler,
  value: JsonRecord,
  { path, graceSeconds }: HandlerPlace,
): readonly FieldError[] {
  const own = `${path}.${handler}`;
  switch (handler) {
    case 'exec':
      return list(value.command).length === 0 ? [fieldError.required(`${own}.command`)] : [];
    case 'httpGet':
      return [
        ...requiredText(value.path, `${own}.path`),
        ...portReferenceErrors(value.port, `${own}.port`),
        ...oneOf(value.scheme, schemes, `${own}.scheme`),
        ...records(value.httpHeaders).flatMap(({ name }) => headerErrors(text(name) ?? '', `${own}.httpHeaders`)),
      ];
    case 'sleep': {
      const seconds = count(value.seconds) ?? 0;
      const problem = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      return seconds < 0 || seconds > graceSeconds ? [fieldError.invalid(own, seconds, problem)] : [];
    }
    case 'tcpSocket':
    case 'grpc':
      return portReferenceErrors(value.port, `${own}.port`);
  }
}

function headerErrors(name: string, path: string): readonly FieldError[] {
  return /^[-A-Za-z0-9]+$/.test(name) ? [] : [fieldError.invalid(path, name, headerText)];
}
