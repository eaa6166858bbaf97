import { type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, record } from '../json.js';
import {
  csiDriverNameErrors,
  labelNameErrors,
  noBackstepErrors,
  requiredText,
  subdomainErrors,
} from '../pods/scalar-rules.js';
import { type VolumeSource, volumeSources } from '../pods/volume-sources.js';

/** Sources that are the same in a pod and in a persistent volume. */
const shared = (field: string): readonly VolumeSource[] => volumeSources.filter((source) => source.field === field);

/** Where a persistent volume can be, in the order in which kube-apiserver looks. */
export const persistentSources: readonly VolumeSource[] = [
  ...shared('hostPath'),
  ...shared('gcePersistentDisk'),
  ...shared('awsElasticBlockStore'),
  { field: 'glusterfs', problems: glusterErrors },
  ...shared('flocker'),
  ...shared('nfs'),
  ...shared('rbd'),
  ...shared('quobyte'),
  ...shared('cephfs'),
  ...shared('iscsi'),
  {
    field: 'cinder',
    problems: (source, path) => [
      ...requiredText(source.volumeID, `${path}.volumeID`),
      ...distantSecretErrors(source, path),
    ],
  },
  ...shared('fc'),
  ...shared('flexVolume'),
  {
    field: 'azureFile',
    problems: (source, path) => [
      ...requiredText(source.secretName, `${path}.secretName`),
      ...requiredText(source.shareName, `${path}.shareName`),
      ...(source.secretNamespace === undefined ? [] : requiredText(source.secretNamespace, `${path}.secretNamespace`)),
    ],
  },
  ...shared('vsphereVolume'),
  ...shared('photonPersistentDisk'),
  ...shared('portworxVolume'),
  ...shared('azureDisk'),
  ...shared('scaleIO'),
  {
    field: 'local',
    problems: (source, path) => [
      ...requiredText(source.path, `${path}.path`),
      ...noBackstepErrors(source.path, `${path}.path`),
    ],
  },
  {
    field: 'storageos',
    problems: (source, path) => [
      ...requiredText(source.volumeName, `${path}.volumeName`),
      ...(source.volumeName === undefined ? [] : labelNameErrors(source.volumeName, `${path}.volumeName`)),
      ...(source.volumeNamespace === undefined
        ? []
        : labelNameErrors(source.volumeNamespace, `${path}.volumeNamespace`)),
      ...distantSecretErrors(source, path),
    ],
  },
  { field: 'csi', problems: csiErrors },
];

function glusterErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const namespace = source.endpointsNamespace;
  const own = `${path}.endpointsNamespace`;
  const words = 'if the endpointnamespace is set, it must be a valid namespace name';
  return [
    ...requiredText(source.endpoints, `${path}.endpoints`),
    ...requiredText(source.path, `${path}.path`),
    ...(namespace === ''
      ? [fieldError.invalid(own, '', words)]
      : namespace === undefined
        ? []
        : labelNameErrors(namespace, own)),
  ];
}

/** A secret that says where it is. */
function distantSecretErrors({ secretRef }: JsonRecord, path: string): readonly FieldError[] {
  if (secretRef === undefined) return [];
  const { name, namespace } = record(secretRef);
  return [...requiredText(name, `${path}.secretRef.name`), ...requiredText(namespace, `${path}.secretRef.namespace`)];
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

function csiErrors(source: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...csiDriverNameErrors(source.driver, `${path}.driver`),
    ...requiredText(source.volumeHandle, `${path}.volumeHandle`),
    ...csiSecrets
      .filter((field) => source[field] !== undefined)
      .flatMap((field) => {
        const { name, namespace } = record(source[field]);
        const [namePath, namespacePath] = [`${path}.${field}.name`, `${path}.${field}.namespace`];
        const required = (value: unknown) => value === undefined || value === '';
        return [
          ...(required(name) ? [fieldError.required(namePath)] : subdomainErrors(name, namePath)),
          ...(required(namespace) ? [fieldError.required(namespacePath)] : labelNameErrors(namespace, namespacePath)),
        ];
      }),
  ];
}
