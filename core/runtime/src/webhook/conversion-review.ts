import { isList, isRecord, type JsonRecord, type Kind, type KubernetesObject } from '@castellan/machinery';
import { errorMessage } from '../error-message.js';
import { badReview, isObject } from './admission-review.js';

/**
 * The reply to a ConversionReview (apiextensions.k8s.io/v1): each object in the version that is asked for, by the conversion
 * functions of its kind. When one of them throws, all of the review has failed, with its words.
 *
 * @throws StatusError `BadRequest` for what is no ConversionReview.
 */
export function conversionReview(kinds: readonly Kind[], review: unknown): JsonRecord {
  const request = isRecord(review) && review.kind === 'ConversionReview' ? review.request : undefined;
  if (!isRecord(request) || typeof request.uid !== 'string')
    throw badReview('it is no ConversionReview with a request');
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof desiredAPIVersion !== 'string' || !isList(objects))
    throw badReview('it asks for no version, or no objects');
  const version = desiredAPIVersion.slice(desiredAPIVersion.indexOf('/') + 1);
  const reply = (response: JsonRecord) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid, ...response },
  });
  try {
    const convertedObjects = objects.filter(isObject).map((object) => convert(kinds, object, version));
    return reply({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    return reply({ convertedObjects: [], result: { status: 'Failure', message: errorMessage(error) } });
  }
}

function convert(kinds: readonly Kind[], object: KubernetesObject, version: string): KubernetesObject {
  const kind = kinds.find(
    (each) => each.kind === object.kind && (object.apiVersion ?? '').startsWith(`${each.group}/`),
  );
  if (kind === undefined) {
    throw new Error(`this webhook does not convert ${object.apiVersion ?? ''}, Kind=${object.kind ?? ''}`);
  }
  return kind.convert(object, version);
}
