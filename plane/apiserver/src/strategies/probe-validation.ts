import { type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, list, record, text } from '../json.js';
import { portReferenceErrors } from './port-names.js';

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'];
const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
const schemes = ['HTTP', 'HTTPS'];

/** The rules of a container's probes and lifecycle hooks. */
export function handlerErrors(container: JsonRecord, path: string, graceSeconds: number): readonly FieldError[] {
  const lifecycle = record(container.lifecycle);
  return [
    ...['postStart', 'preStop'].flatMap((hook) =>
      lifecycle[hook] === undefined
        ? []
        : oneHandler(record(lifecycle[hook]), lifecycleHandlers, { path: `${path}.lifecycle.${hook}`, graceSeconds }),
    ),
    ...probes.flatMap((name) => {
      if (container[name] === undefined) return [];
      return probeErrors(record(container[name]), `${path}.${name}`, name !== 'readinessProbe');
    }),
  ];
}

function probeErrors(probe: JsonRecord, path: string, isOnceEnough: boolean): readonly FieldError[] {
  return [
    ...oneHandler(probe, probeHandlers, { path, graceSeconds: 0 }),
    ...probeNumbers.flatMap((field) => {
      const value = probe[field];
      return typeof value === 'number' && value < 0
        ? [fieldError.invalid(`${path}.${field}`, value, 'must be greater than or equal to 0')]
        : [];
    }),
    ...(isOnceEnough && probe.successThreshold !== 1
      ? [fieldError.invalid(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')]
      : []),
  ];
}

interface HandlerPlace {
  readonly path: string;
  /** How long the pod has for its end. */
  readonly graceSeconds: number;
}

function oneHandler(owner: JsonRecord, handlers: readonly string[], place: HandlerPlace): readonly FieldError[] {
  const { path } = place;
  const [first, ...others] = handlers.filter((handler) => owner[handler] !== undefined);
  if (first === undefined) return [fieldError.required(path, 'must specify a handler type')];
  return [
    ...handlerRules(first, record(owner[first]), place),
    ...others.map((other) => fieldError.forbidden(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ];
}

function handlerRules(handler: string, value: JsonRecord, { path, graceSeconds }: HandlerPlace): readonly FieldError[] {
  const own = `${path}.${handler}`;
  switch (handler) {
    case 'exec':
      return list(value.command).length === 0 ? [fieldError.required(`${own}.command`)] : [];
    case 'httpGet': {
      const scheme = text(value.scheme) ?? '';
      return [
        ...portReferenceErrors(value.port, `${own}.port`),
        ...(schemes.includes(scheme) ? [] : [fieldError.notSupported(`${own}.scheme`, scheme, schemes)]),
      ];
    }
    case 'sleep': {
      const seconds = Number(value.seconds ?? 0);
      const problem = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      return seconds < 0 || seconds > graceSeconds ? [fieldError.invalid(own, seconds, problem)] : [];
    }
    default:
      return portReferenceErrors(value.port, `${own}.port`);
  }
}
