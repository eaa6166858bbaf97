import { type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, record, text } from '../json.js';
import { containersOf } from './containers.js';
import { localPathErrors } from './scalar-rules.js';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const maxInt32 = 2_147_483_647;

/** The rules of annotations that mean something for a pod. */
export function annotationErrors(annotations: JsonRecord, spec: JsonRecord, path: string): readonly FieldError[] {
  const value = (key: string) => text(annotations[key]) ?? '';
  return [
    ...(annotations[mirrorAnnotation] !== undefined && (text(spec.nodeName) ?? '') === ''
      ? [
          fieldError.invalid(
            `${path}[${mirrorAnnotation}]`,
            value(mirrorAnnotation),
            'must set spec.nodeName if mirror pod annotation is set',
          ),
        ]
      : []),
    ...(annotations[deletionCost] === undefined || isInt32(value(deletionCost))
      ? []
      : [fieldError.invalid(`${path}[${deletionCost}]`, value(deletionCost), 'must be a 32bit integer')]),
    ...Object.keys(annotations)
      .filter((key) => key === seccompPod || key.startsWith(seccompContainer))
      .flatMap((key) => seccompErrors(value(key), `${path}.${key}`)),
    ...Object.keys(annotations)
      .filter((key) => key.startsWith(appArmorPrefix))
      .flatMap((key) => appArmorErrors(key, value(key), { spec, path })),
  ];
}

/** A number as Go's decimal reading takes it, without a sign or zeros in front that would be written otherwise. */
function isInt32(value: string): boolean {
  const number = Number(value);
  return /^(?:0|-?[1-9]\d*)$/.test(value) && number >= -maxInt32 - 1 && number <= maxInt32;
}

function seccompErrors(profile: string, path: string): readonly FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (profile.startsWith('localhost/')) return localPathErrors(profile.slice('localhost/'.length), path);
  return [fieldError.invalid(path, profile, 'must be a valid seccomp profile')];
}

function appArmorErrors(
  key: string,
  profile: string,
  { spec, path }: { readonly spec: JsonRecord; readonly path: string },
): readonly FieldError[] {
  const own = `${path}[${key}]`;
  const name = key.slice(appArmorPrefix.length);
  const isThere = containersOf(spec, '').some(({ container }) => container.name === name);
  const isGood =
    profile === '' || ['runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/');
  return [
    ...(isThere ? [] : [fieldError.invalid(own, name, 'container not found')]),
    ...(isGood ? [] : [fieldError.invalid(own, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]),
  ];
}

/** A node's own pods are marked so from the beginning to the end. */
export function mirrorErrors(annotations: JsonRecord, before: JsonRecord): readonly FieldError[] {
  const path = `metadata.annotations[${mirrorAnnotation}]`;
  const [now, old] = [annotations[mirrorAnnotation], before[mirrorAnnotation]];
  if (now === old) return [];
  const problem =
    old === undefined ? 'may not add mirror pod annotation' : 'may not remove or update mirror pod annotation';
  return [fieldError.forbidden(path, problem)];
}

interface Profiles {
  readonly what: 'seccomp' | 'apparmor';
  readonly field: 'seccompProfile' | 'appArmorProfile';
  /** What the annotation says for the container runtime's own profile. */
  readonly defaults: readonly string[];
}

const seccomp: Profiles = {
  what: 'seccomp',
  field: 'seccompProfile',
  defaults: ['runtime/default', 'docker/default'],
};
const appArmor: Profiles = { what: 'apparmor', field: 'appArmorProfile', defaults: ['runtime/default'] };

/** Where both a field and its old annotation say how a container is confined, they say the same. */
export function seccompMatchErrors(annotations: JsonRecord, spec: JsonRecord, path: string): readonly FieldError[] {
  const ofPod = at(spec, 'securityContext', 'seccompProfile');
  return [
    ...matchErrors(annotations[seccompPod], ofPod, `${path}.securityContext`, seccomp),
    ...containersOf(spec, path).flatMap(({ container, path: own }) => {
      const profile = at(container, 'securityContext', 'seccompProfile');
      const annotation = annotations[`${seccompContainer}${text(container.name) ?? ''}`];
      return matchErrors(annotation, profile, `${own}.securityContext`, seccomp);
    }),
  ];
}

export function appArmorMatchErrors(annotations: JsonRecord, spec: JsonRecord, path: string): readonly FieldError[] {
  if (at(spec, 'os', 'name') === 'windows') return [];
  return containersOf(spec, path).flatMap(({ container, path: own }) => {
    const profile =
      at(container, 'securityContext', 'appArmorProfile') ?? at(spec, 'securityContext', 'appArmorProfile');
    const annotation = annotations[`${appArmorPrefix}${text(container.name) ?? ''}`];
    return matchErrors(annotation, profile, `${own}.securityContext`, appArmor);
  });
}

function matchErrors(annotation: unknown, profile: unknown, path: string, kind: Profiles): readonly FieldError[] {
  const said = text(annotation);
  if (said === undefined || profile === undefined) return [];
  const { type, localhostProfile } = record(profile);
  const own = `${path}.${kind.field}`;
  const isLocal = type === 'Localhost';
  const agrees = isLocal
    ? said.startsWith('localhost/')
    : type === 'Unconfined'
      ? said === 'unconfined'
      : type !== 'RuntimeDefault' || kind.defaults.includes(said);
  if (!agrees) return [fieldError.forbidden(`${own}.type`, `${kind.what} type in annotation and field must match`)];
  if (!isLocal || said.slice('localhost/'.length) === localhostProfile) return [];
  const problem = `${kind.what} profile in annotation and field must match`;
  return [fieldError.forbidden(`${own}.localhostProfile`, problem)];
}
