import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, record, text } from '../json.js';
import { printed } from '../pods/go-print.js';
import { csiDriverNameErrors, inRange, requiredText, subdomainErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';

/** A volume that is, or is to be, at a node. */
export const volumeAttachmentStrategy: Strategy = {
  prepareForCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  validate: (attachment, current) => {
    const { attacher, source, nodeName } = record(attachment.spec);
    const { persistentVolumeName } = record(source);
    // What was made by an older release may say these as it likes.
    const isNew = current === undefined;
    return [
      ...requiredText(attacher, 'spec.attacher'),
      ...sourceErrors(record(source), 'spec.source'),
      ...subdomainErrors(nodeName, 'spec.nodeName'),
      ...attachmentStatusErrors(record(attachment.status)),
      ...(isNew ? csiDriverNameErrors(attacher, 'spec.attacher') : []),
      ...(isNew && persistentVolumeName !== undefined
        ? subdomainErrors(persistentVolumeName, 'spec.source.persistentVolumeName')
        : []),
    ];
  },
  validateUpdate: (attachment, current) =>
    deepEqual(attachment.spec, current.spec)
      ? []
      : [fieldError.invalid('spec', printed('VolumeAttachmentSpec', record(attachment.spec)), 'field is immutable')],
};

function sourceErrors({ persistentVolumeName, inlineVolumeSpec }: JsonRecord, path: string): readonly FieldError[] {
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec !== undefined) {
    return persistentVolumeName === undefined ? [] : [fieldError.forbidden(path, one)];
  }
  if (persistentVolumeName === undefined) return [fieldError.required(path, one)];
  return persistentVolumeName === ''
    ? [fieldError.required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
    : [];
}

const longestVolumeError = 1024;
/** Upstream says this limit of errors too. */
const largestAttachmentMetadata = 256 * 1024;

function attachmentStatusErrors({ attachmentMetadata, attachError, detachError }: JsonRecord): readonly FieldError[] {
  const bytes = Object.entries(record(attachmentMetadata)).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text(value) ?? ''),
    0,
  );
  return [
    ...(bytes > largestAttachmentMetadata
      ? [fieldError.tooLong('status.attachmentMetadata', largestAttachmentMetadata)]
      : []),
    ...volumeErrorErrors(record(attachError), 'status.attachError'),
    ...volumeErrorErrors(record(detachError), 'status.detachError'),
  ];
}

function volumeErrorErrors({ message, errorCode }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...(Buffer.byteLength(text(message) ?? '') > longestVolumeError
      ? [fieldError.tooLong(`${path}.message`, largestAttachmentMetadata)]
      : []),
    ...inRange(errorCode, `${path}.errorCode`, { from: 0, to: 2_147_483_647 }),
  ];
}
