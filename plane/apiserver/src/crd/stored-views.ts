import { type ApiObject, at } from '../json.js';
import type { ResourceDefinition } from '../registry/resource.js';
import { convertByWebhook, type WebhookConversion } from './webhook-conversion.js';

/** How objects of one version of a schema are completed and cleaned when they are read. */
export interface VersionSchema {
  readonly withDefaults: (object: ApiObject) => ApiObject;
  readonly prune: (object: ApiObject) => { readonly object: ApiObject };
}

/**
 * Between one version of a definition and what is stored. What is read gets the defaults of the version that it is
 * stored in, and loses what neither that nor its own version knows.
 */
export function storedViews(options: {
  readonly crd: ApiObject;
  readonly apiVersion: string;
  /** The version that is written. */
  readonly storedAs: string;
  readonly conversion: WebhookConversion;
  /** The schema of an API version of the definition; `undefined` where it has no such version. */
  readonly schemaOf: (apiVersion: string) => VersionSchema | undefined;
}): Pick<ResourceDefinition, 'makeReady' | 'fromStorage' | 'toStorage'> {
  const { crd, apiVersion, storedAs, schemaOf } = options;
  const clean = (object: ApiObject) => schemaOf(object.apiVersion ?? '')?.prune(object).object ?? object;
  const read = (stored: ApiObject) => clean(schemaOf(stored.apiVersion ?? '')?.withDefaults(stored) ?? stored);
  // Every reader of a cached object asks for the same view of it.
  const views = new WeakMap<ApiObject, ApiObject>();
  const fromStorage = (stored: ApiObject, isConvertible: boolean): ApiObject => {
    const known = views.get(stored);
    if (known !== undefined) return known;
    const own = read(stored);
    if (own.apiVersion !== apiVersion && !isConvertible) throw new Error('an object is read before it is converted');
    const view = own.apiVersion === apiVersion ? own : clean({ ...own, apiVersion });
    views.set(stored, view);
    return view;
  };
  if (at(crd, 'spec', 'conversion', 'strategy') !== 'Webhook') {
    return {
      fromStorage: (stored) => fromStorage(stored, true),
      // A write in any version stores the storage version: to rewrite objects is to migrate them.
      toStorage: (object) => (object.apiVersion === storedAs ? object : clean({ ...object, apiVersion: storedAs })),
    };
  }
  const convert = async (objects: readonly ApiObject[], to: string) =>
    (await convertByWebhook(crd, objects, to, options.conversion)).map(clean);
  return {
    fromStorage: (stored) => fromStorage(stored, false),
    toStorage: async (object) => {
      if (object.apiVersion === storedAs) return object;
      const [stored] = await convert([object], storedAs);
      return stored ?? object;
    },
    makeReady: (objects) => {
      const missing = objects.filter((stored) => stored.apiVersion !== apiVersion && !views.has(stored));
      if (missing.length === 0) return undefined;
      return convert(missing.map(read), apiVersion).then((converted) => {
        for (const [index, stored] of missing.entries()) {
          const view = converted[index];
          if (view !== undefined) views.set(stored, view);
        }
      });
    },
  };
}
