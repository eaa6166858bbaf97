import { dns1123SubdomainErrors, type FieldError, fieldError, parseQuantity } from '@castellan/machinery';
import { count, type JsonRecord, list, record, records, text } from '../json.js';
import { claimTemplateErrors } from './claim-template-rules.js';
import { downwardErrors, keyPathErrors } from './projected-rules.js';
import {
  csiDriverNameErrors,
  inRange,
  labelNameErrors,
  localPathErrors,
  modeErrors,
  noBackstepErrors,
  oneOfOrUnset,
  requiredText,
} from './scalar-rules.js';

/** One way of saying where a volume's files are. */
export interface VolumeSource {
  readonly field: string;
  /** Where upstream says the rules of the source do not hold, if not at the field. */
  readonly shownField?: string;
  /** Where upstream says that it is one source too many, if not at the field. */
  readonly wrongField?: string;
  problems(source: JsonRecord, path: string): readonly FieldError[];
}

type Rules = VolumeSource['problems'];

const nothing: Rules = () => [];

function texts(...fields: readonly string[]): Rules {
  return (source, path) => fields.flatMap((field) => requiredText(source[field], `${path}.${field}`));
}

/** In the order in which kube-apiserver looks at them. */
export const volumeSources: readonly VolumeSource[] = [
  { field: 'emptyDir', problems: emptyDirErrors },
  { field: 'hostPath', problems: hostPathErrors },
  {
    field: 'gitRepo',
    problems: (source, path) => [
      ...requiredText(source.repository, `${path}.repository`),
      ...localPathErrors(source.directory, `${path}.directory`),
    ],
  },
  { field: 'gcePersistentDisk', shownField: 'persistentDisk', problems: diskErrors('pdName') },
  { field: 'awsElasticBlockStore', problems: diskErrors('volumeID') },
  { field: 'secret', problems: filesErrors('secretName') },
  { field: 'nfs', problems: nfsErrors },
  { field: 'iscsi', problems: iscsiErrors },
  { field: 'glusterfs', problems: texts('endpoints', 'path') },
  { field: 'flocker', problems: flockerErrors },
  { field: 'persistentVolumeClaim', problems: texts('claimName') },
  {
    field: 'rbd',
    problems: (source, path) => [...monitorErrors(source, path), ...requiredText(source.image, `${path}.image`)],
  },
  {
    field: 'cinder',
    problems: (source, path) => [...requiredText(source.volumeID, `${path}.volumeID`), ...secretErrors(source, path)],
  },
  { field: 'cephfs', wrongField: 'cephFS', problems: monitorErrors },
  { field: 'quobyte', problems: quobyteErrors },
  {
    field: 'downwardAPI',
    wrongField: 'downwarAPI',
    problems: (source, path) => [
      ...modeErrors(source.defaultMode, `${path}.defaultMode`),
      ...downwardErrors(source, path),
    ],
  },
  { field: 'fc', problems: fibreErrors },
  { field: 'flexVolume', problems: flexErrors },
  { field: 'configMap', problems: filesErrors('name') },
  { field: 'azureFile', problems: texts('secretName', 'shareName') },
  { field: 'vsphereVolume', problems: texts('volumePath') },
  { field: 'photonPersistentDisk', problems: texts('pdID') },
  { field: 'portworxVolume', problems: texts('volumeID') },
  { field: 'azureDisk', problems: azureDiskErrors },
  { field: 'storageos', problems: storageOsErrors },
  { field: 'projected', problems: nothing },
  { field: 'scaleIO', problems: texts('gateway', 'system', 'volumeName') },
  { field: 'csi', problems: csiErrors },
  {
    field: 'ephemeral',
    problems: ({ volumeClaimTemplate: template }, path) =>
      template === undefined
        ? [fieldError.required(`${path}.volumeClaimTemplate`)]
        : claimTemplateErrors(record(template), `${path}.volumeClaimTemplate`),
  },
  { field: 'image', problems: imageErrors },
];

function emptyDirErrors({ sizeLimit }: JsonRecord, path: string): readonly FieldError[] {
  const isNegative = typeof sizeLimit === 'string' && parseQuantity(sizeLimit).nano < 0n;
  const problem = 'SizeLimit field must be a valid resource quantity';
  return isNegative ? [fieldError.forbidden(`${path}.sizeLimit`, problem)] : [];
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** The rules of a directory of the node, as pods and persistent volumes name it. Source: validateHostPathVolumeSource. */
function hostPathErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const own = text(source.path) ?? '';
  if (own === '') return [fieldError.required(`${path}.path`)];
  return [...noBackstepErrors(own, `${path}.path`), ...oneOfOrUnset(source.type, hostPathTypes, `${path}.type`)];
}

function diskErrors(field: string): Rules {
  return (source, path) => {
    const partition = count(source.partition) ?? 0;
    return [
      ...requiredText(source[field], `${path}.${field}`),
      ...(partition < 0 || partition > 255
        ? [fieldError.invalid(`${path}.partition`, partition, 'must be between 0 and 255, inclusive')]
        : []),
    ];
  };
}

/** A volume whose files are the entries of a ConfigMap or a secret. */
function filesErrors(nameField: string): Rules {
  return (source, path) => [
    ...requiredText(source[nameField], `${path}.${nameField}`),
    ...modeErrors(source.defaultMode, `${path}.defaultMode`),
    ...records(source.items).flatMap((item, index) => keyPathErrors(item, `${path}.items[${index}]`)),
  ];
}

function nfsErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const own = text(source.path) ?? '';
  return [
    ...requiredText(source.server, `${path}.server`),
    ...requiredText(own, `${path}.path`),
    ...(own.startsWith('/') ? [] : [fieldError.invalid(`${path}.path`, own, 'must be an absolute path')]),
  ];
}

const targetForms: Readonly<Record<string, RegExp>> = {
  iqn: /^iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[0-9A-Fa-f]{16}$/,
  naa: /^naa.[0-9A-Fa-f]{32}$/,
};

function targetErrors(name: string, path: string): readonly FieldError[] {
  const form = targetForms[name.slice(0, 3)];
  if (form === undefined) {
    return [fieldError.invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  }
  return form.test(name) ? [] : [fieldError.invalid(path, name, 'must be valid format')];
}

function iscsiErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const iqn = text(source.iqn) ?? '';
  const initiator = text(source.initiatorName);
  const isSecret = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  return [
    ...requiredText(source.targetPortal, `${path}.targetPortal`),
    ...(iqn === '' ? [fieldError.required(`${path}.iqn`)] : targetErrors(iqn, `${path}.iqn`)),
    ...inRange(source.lun, `${path}.lun`, { from: 0, to: 255 }),
    ...(isSecret && source.secretRef === undefined ? [fieldError.required(`${path}.secretRef`)] : []),
    ...(initiator === undefined ? [] : targetErrors(initiator, `${path}.initiatorname`)),
  ];
}

function flockerErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const name = text(source.datasetName) ?? '';
  const uuid = text(source.datasetUUID) ?? '';
  const isBoth = name !== '' && uuid !== '';
  return [
    ...(name === '' && uuid === ''
      ? [fieldError.required(path, 'one of datasetName and datasetUUID is required')]
      : []),
    ...(isBoth
      ? [fieldError.invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [fieldError.invalid(`${path}.datasetName`, name, "must not contain '/'")] : []),
  ];
}

function monitorErrors({ monitors }: JsonRecord, path: string): readonly FieldError[] {
  return list(monitors).length === 0 ? [fieldError.required(`${path}.monitors`)] : [];
}

function secretErrors({ secretRef }: JsonRecord, path: string): readonly FieldError[] {
  return secretRef === undefined ? [] : requiredText(record(secretRef).name, `${path}.secretRef.name`);
}

const longestTenant = 64;

function quobyteErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const registry = text(source.registry) ?? '';
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const isLong = (text(source.tenant) ?? '').length > longestTenant;
  const tenantText = 'must be a UUID and may not exceed a length of 64 characters';
  return [
    ...(registry === ''
      ? [fieldError.required(`${path}.registry`, pairs)]
      : isLong
        ? [fieldError.required(`${path}.tenant`, tenantText)]
        : registry
            .split(',')
            .filter((pair) => !/^(?:\[[^\]]*\]|[^:]*):[^:]*$/.test(pair))
            .map(() => fieldError.invalid(`${path}.registry`, registry, pairs))),
    ...requiredText(source.volume, `${path}.volume`),
  ];
}

function fibreErrors({ targetWWNs, wwids, lun }: JsonRecord, path: string): readonly FieldError[] {
  const hasTargets = list(targetWWNs).length > 0;
  const hasIds = list(wwids).length > 0;
  const own = `${path}.targetWWNs`;
  return [
    ...(hasTargets || hasIds
      ? []
      : [fieldError.required(own, 'must specify either targetWWNs or wwids, but not both')]),
    ...(hasTargets && hasIds
      ? [fieldError.invalid(own, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
      : []),
    ...(hasTargets && lun === undefined
      ? [fieldError.required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
      : []),
    ...(hasTargets ? inRange(lun, `${path}.lun`, { from: 0, to: 255 }) : []),
  ];
}

function flexErrors({ driver, options }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...requiredText(driver, `${path}.driver`),
    ...Object.keys(record(options)).flatMap((key) => {
      const [namespace = ''] = key.split('/');
      if (!/\.(?:kubernetes|k8s)\.io$/.test(`.${namespace.toLowerCase()}`)) return [];
      return [fieldError.invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')];
    }),
  ];
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const diskKinds = ['Dedicated', 'Managed', 'Shared'];
const managedForm = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobForm = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function azureDiskErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const uri = text(source.diskURI) ?? '';
  const [start, form] = source.kind === 'Managed' ? ['/subscriptions/', managedForm] : ['https://', blobForm];
  const isOdd = source.kind !== undefined && !uri.startsWith(start);
  return [
    ...requiredText(source.diskName, `${path}.diskName`),
    ...requiredText(uri, `${path}.diskURI`),
    ...oneOfOrUnset(source.cachingMode, cachingModes, `${path}.cachingMode`),
    ...oneOfOrUnset(source.kind, diskKinds, `${path}.kind`),
    ...(isOdd ? [fieldError.notSupported(`${path}.diskURI`, uri, [form])] : []),
  ];
}

function storageOsErrors(source: JsonRecord, path: string): readonly FieldError[] {
  const name = text(source.volumeName) ?? '';
  const namespace = text(source.volumeNamespace) ?? '';
  return [
    ...(name === '' ? [fieldError.required(`${path}.volumeName`)] : labelNameErrors(name, `${path}.volumeName`)),
    ...(namespace === '' ? [] : labelNameErrors(namespace, `${path}.volumeNamespace`)),
    ...secretErrors(source, path),
  ];
}

function csiErrors({ driver, nodePublishSecretRef }: JsonRecord, path: string): readonly FieldError[] {
  const secret = text(record(nodePublishSecretRef).name) ?? '';
  return [
    ...csiDriverNameErrors(driver, `${path}.driver`),
    ...(nodePublishSecretRef === undefined
      ? []
      : secret === ''
        ? [fieldError.required(`${path}.nodePublishSecretRef.name`)]
        : dns1123SubdomainErrors(secret).map((problem) => fieldError.invalid(`${path}.name`, secret, problem))),
  ];
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

function imageErrors({ reference, pullPolicy }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...requiredText(reference, `${path}.reference`),
    ...oneOfOrUnset(pullPolicy, pullPolicies, `${path}.pullPolicy`),
  ];
}
