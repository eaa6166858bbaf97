import { type ApiObject, type JsonRecord, record, records } from '../json.js';

/** Guaranteed, Burstable or BestEffort, by the cpu and memory that all containers ask for. */
export function qosClassOf(pod: ApiObject): string {
  const spec = record(pod.spec);
  const resources = [...records(spec.containers), ...records(spec.initContainers)].map((container) =>
    record(container.resources),
  );
  const names = ['cpu', 'memory'];
  const hasAny = (amounts: JsonRecord) => names.some((name) => isPositive(amounts[name]));
  if (!resources.some(({ requests, limits }) => hasAny(record(requests)) || hasAny(record(limits))))
    return 'BestEffort';
  const isGuaranteed = resources.every((resource) => {
    const limits = record(resource.limits);
    const requests = record(resource.requests);
    return names.every((name) => isPositive(limits[name]) && String(limits[name]) === String(requests[name]));
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function isPositive(quantity: unknown): boolean {
  return quantity !== undefined && Number.parseFloat(String(quantity)) > 0;
}
