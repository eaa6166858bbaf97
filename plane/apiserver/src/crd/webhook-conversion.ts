import { labelErrors } from '@castellan/machinery';
import { internalError } from '../errors.js';
import { type ApiObject, asApiObject, at, isRecord, type JsonRecord, list, record, text } from '../json.js';

/** POSTs a ConversionReview to where a client configuration says, and gives back what is replied. */
export type PostReview = (config: JsonRecord, review: JsonRecord) => Promise<unknown>;

export interface WebhookConversion {
  readonly post: PostReview;
  readonly uuid: () => string;
}

/** So many objects are sent in one review. */
const mostObjects = 100;
const reviewVersions = ['v1', 'v1beta1'];

/**
 * Objects of a definition in `apiVersion`, made by its conversion webhook. Of their metadata the webhook may change
 * labels and annotations; the rest is kept.
 *
 * @throws StatusError 500 "conversion webhook for example.com/v1, Kind=Widget failed: …"
 */
export async function convertByWebhook(
  crd: ApiObject,
  objects: readonly ApiObject[],
  apiVersion: string,
  conversion: WebhookConversion,
): Promise<readonly ApiObject[]> {
  const converted: ApiObject[] = [];
  for (let start = 0; start < objects.length; start += mostObjects) {
    converted.push(...(await convertSome(crd, objects.slice(start, start + mostObjects), apiVersion, conversion)));
  }
  return converted;
}

async function convertSome(
  crd: ApiObject,
  objects: readonly ApiObject[],
  apiVersion: string,
  { post, uuid }: WebhookConversion,
): Promise<readonly ApiObject[]> {
  const webhook = record(at(crd, 'spec', 'conversion', 'webhook'));
  const version = list(webhook.conversionReviewVersions).find((each) => reviewVersions.includes(text(each) ?? ''));
  if (version === undefined) throw internalError('no supported conversion review versions');
  const uid = uuid();
  const review = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${text(version) ?? ''}`,
    request: { uid, desiredAPIVersion: apiVersion, objects },
  };
  const name = `${objects[0]?.apiVersion ?? ''}, Kind=${objects[0]?.kind ?? ''}`;
  const results = await repliedObjects(post(record(webhook.clientConfig), review), review).catch((error: unknown) => {
    const problem = error instanceof Error ? error.message : String(error);
    throw internalError(`conversion webhook for ${name} failed: ${problem}`);
  });
  if (results.length !== objects.length) {
    throw internalError(
      `conversion webhook for ${name} returned ${results.length} objects, expected ${objects.length}`,
    );
  }
  return objects.map((object, index) => {
    const problem = (text: string) => internalError(`conversion webhook for ${name} returned ${text}`);
    return checked(object, asApiObject(record(results[index])), apiVersion, problem);
  });
}

async function repliedObjects(
  replied: Promise<unknown>,
  review: { readonly apiVersion: string; readonly request: { readonly uid: string } },
): Promise<readonly unknown[]> {
  const reply = record(await replied);
  const { response } = reply;
  // Upstream looks at neither in reviews of v1beta1.
  const isExact = review.apiVersion.endsWith('/v1');
  const wanted = `${review.apiVersion}, Kind=ConversionReview`;
  const got = `${text(reply.apiVersion) ?? ''}, Kind=${text(reply.kind) ?? ''}`;
  if (isExact && got !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${got}`);
  if (!isRecord(response)) throw new Error('no response provided');
  const [expectedUid, uid] = [review.request.uid, text(response.uid) ?? ''];
  if (isExact && uid !== expectedUid) throw new Error(`expected response.uid="${expectedUid}", got "${uid}"`);
  const status = text(at(response, 'result', 'status')) ?? '';
  if (status !== 'Success') {
    const message = text(at(response, 'result', 'message')) ?? '';
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : message);
  }
  return list(response.convertedObjects);
}

function checked(
  original: ApiObject,
  converted: ApiObject,
  apiVersion: string,
  problem: (text: string) => Error,
): ApiObject {
  const first = 'invalid object at index 0: invalid';
  if (converted.apiVersion !== apiVersion) {
    throw problem(`${first} groupVersion (expected ${apiVersion}, received ${converted.apiVersion ?? ''})`);
  }
  if (converted.kind !== original.kind) {
    throw problem(`${first} kind (expected ${original.kind ?? ''}, received ${converted.kind ?? ''})`);
  }
  for (const [field, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before, after] = [original.metadata[field] ?? '', converted.metadata[field] ?? ''];
    if (before !== after) throw problem(`invalid object: must have the same ${shown}: ${before} != ${after}`);
  }
  return { ...converted, metadata: restoredMetadata(original, converted, problem) };
}

/** The metadata of `original` with the labels and annotations of `converted`. */
function restoredMetadata(
  original: ApiObject,
  converted: ApiObject,
  problem: (text: string) => Error,
): ApiObject['metadata'] {
  const { labels: _, annotations: __, ...kept } = original.metadata;
  const texts = (field: 'labels' | 'annotations'): Readonly<Record<string, string>> | undefined => {
    const given: unknown = converted.metadata[field];
    if (given === undefined || given === null) return undefined;
    if (!isRecord(given)) {
      throw problem(`invalid metadata: invalid metadata.${field} of type ${goTypeOf(given)} in converted object`);
    }
    return Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        if (typeof value === 'string') return [key, value];
        const what = `metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`;
        throw problem(`invalid metadata: ${what}`);
      }),
    );
  };
  const [labels, annotations] = [texts('labels'), texts('annotations')];
  const [wrong] = labelErrors(labels ?? {}, 'metadata.labels');
  if (wrong !== undefined) throw problem(`invalid metadata: ${wrong.field}: ${wrong.message}`);
  return {
    ...kept,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
