import { dns1123LabelErrors, dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, record, records, text } from '../json.js';
import type { Volumes } from './mount-rules.js';
import { projectedErrors } from './projected-rules.js';
import { labelNameErrors } from './scalar-rules.js';
import { volumeSources } from './volume-sources.js';

/** The rules of a pod's volumes, and which of them are good enough to be mounted. */
export function volumeErrors(
  spec: JsonRecord,
  path: string,
  podName: string,
): { readonly volumes: Volumes; readonly errors: readonly FieldError[] } {
  const volumes = new Map<string, JsonRecord>();
  const errors: FieldError[] = [];
  const all = records(spec.volumes);
  const claims = new Set(
    all.filter(({ ephemeral }) => ephemeral !== undefined && podName !== '').map(({ name }) => `${podName}-${name}`),
  );
  for (const [index, volume] of all.entries()) {
    const own = `${path}.volumes[${index}]`;
    const name = text(volume.name) ?? '';
    const problems = [
      ...sourceErrors(volume, { path: own, name, podName }),
      ...(name === '' ? [fieldError.required(`${own}.name`)] : labelNameErrors(name, `${own}.name`)),
      ...(volumes.has(name) ? [fieldError.duplicate(`${own}.name`, name)] : []),
    ];
    if (problems.length === 0) volumes.set(name, volume);
    errors.push(...problems);
    const claim = text(record(volume.persistentVolumeClaim).claimName) ?? '';
    if (claims.has(claim)) {
      const problem = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.push(fieldError.invalid(`${own}.persistentVolumeClaim.claimName`, claim, problem));
    }
  }
  return { volumes, errors };
}

interface VolumePlace {
  readonly path: string;
  readonly name: string;
  readonly podName: string;
}

function sourceErrors(volume: JsonRecord, place: VolumePlace): readonly FieldError[] {
  const { path } = place;
  const [first, ...others] = volumeSources.filter(({ field }) => volume[field] !== undefined);
  if (first === undefined) return [fieldError.required(path, 'must specify a volume type')];
  const own = `${path}.${first.shownField ?? first.field}`;
  return [
    ...first.problems(record(volume[first.field]), own),
    ...(first.field === 'projected' ? projectedErrors(record(volume.projected), own) : []),
    ...(first.field === 'ephemeral' ? claimNameErrors(place) : []),
    ...(first.field === 'iscsi' ? initiatorErrors(record(volume.iscsi), place) : []),
    ...others.map(({ field, wrongField }) =>
      fieldError.forbidden(`${path}.${wrongField ?? field}`, 'may not specify more than 1 volume type'),
    ),
  ];
}

/** The claim of an ephemeral volume is named for its pod. */
function claimNameErrors({ path, name, podName }: VolumePlace): readonly FieldError[] {
  if (name === '' || podName === '') return [];
  const claim = `${podName}-${name}`;
  return dns1123SubdomainErrors(claim).map((problem) =>
    fieldError.invalid(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${problem}`),
  );
}

const longestPortal = 64;

function initiatorErrors({ initiatorName, targetPortal }: JsonRecord, { path, name }: VolumePlace) {
  const isLong = `${name}:${text(targetPortal) ?? ''}`.length > longestPortal;
  if (initiatorName === undefined || !isLong) return [];
  const problem =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [fieldError.invalid(`${path}.name`, name, problem)];
}

/** Names of the claims on devices that a pod makes known to its containers. */
export function resourceClaimErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const names = new Set<string>();
  return records(spec.resourceClaims).flatMap((claim, index) => {
    const own = `${path}.resourceClaims[${index}]`;
    const name = text(claim.name) ?? '';
    const sources = (['resourceClaimName', 'resourceClaimTemplateName'] as const).filter(
      (source) => claim[source] !== undefined,
    );
    const shown = {
      Name: name,
      ResourceClaimName: claim.resourceClaimName ?? null,
      ResourceClaimTemplateName: claim.resourceClaimTemplateName ?? null,
    };
    const problems = [
      ...(name === ''
        ? [fieldError.required(`${own}.name`)]
        : names.has(name)
          ? [fieldError.duplicate(`${own}.name`, name)]
          : dns1123LabelErrors(name).map((problem) => fieldError.invalid(`${own}.name`, name, problem))),
      ...(sources.length > 1
        ? [
            fieldError.invalid(
              own,
              shown,
              'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
            ),
          ]
        : []),
      ...(sources.length === 0
        ? [fieldError.invalid(own, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')]
        : []),
      ...sources.flatMap((source) => {
        const object = text(claim[source]) ?? '';
        return dns1123SubdomainErrors(object).map((problem) => fieldError.invalid(`${own}.${source}`, object, problem));
      }),
    ];
    names.add(name);
    return problems;
  });
}
