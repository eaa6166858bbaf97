import {
  customResourceDefinitions,
  type Kind,
  type KubernetesObject,
  mutatingWebhookConfigurations,
  type ResourceType,
  resourceName,
  validatingWebhookConfigurations,
} from '@castellan/machinery';
import type { Webhook } from './webhook.js';

/** Where the API server finds the webhooks. */
export type WebhookAddress =
  /** A Service of the cluster, as on every real one. */
  | { readonly service: { readonly name: string; readonly namespace: string; readonly port?: number } }
  /** `https://127.0.0.1:9443`: where the API server runs on the machine of the developer. */
  | { readonly url: string };

export interface Registered {
  /** Of the two configurations. */
  readonly name: string;
  readonly address: WebhookAddress;
  /** Authorities in PEM. */
  readonly bundle: string;
  readonly webhooks: readonly Webhook[];
  readonly kinds: readonly Kind[];
}

/** An object to be applied, of which other fields may be another's. */
export interface Registration {
  readonly type: ResourceType;
  readonly object: KubernetesObject;
  /** What is made where there is none yet, if that is more than what is applied. */
  readonly whole?: KubernetesObject;
  /** Applied only to give up what an earlier version of the program had. */
  readonly isEmpty?: boolean;
}

export const paths = {
  validate: (type: ResourceType) => `/validate/${resourceName(type)}/${type.version}`,
  mutate: (type: ResourceType) => `/mutate/${resourceName(type)}/${type.version}`,
  convert: '/convert',
} as const;

/** What tells the API server of all webhooks: two configurations, and the conversion of each kind with several versions. */
export function registrationsOf(registered: Registered): readonly Registration[] {
  const { name, webhooks, kinds } = registered;
  const configuration = (type: ResourceType, entries: readonly object[]): Registration => ({
    type,
    object: withField({ metadata: { name } }, 'webhooks', entries),
    isEmpty: entries.length === 0,
  });
  return [
    configuration(
      mutatingWebhookConfigurations,
      webhooks.filter(({ handlers }) => handlers.mutate !== undefined).map((each) => mutating(each, registered)),
    ),
    configuration(
      validatingWebhookConfigurations,
      webhooks.filter(({ handlers }) => handlers.validate !== undefined).map((each) => validating(each, registered)),
    ),
    ...kinds.map((kind): Registration => {
      const conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: clientConfig(registered, paths.convert), conversionReviewVersions: ['v1'] },
      };
      const metadata = { name: kind.crd.metadata.name ?? '' };
      return {
        type: customResourceDefinitions,
        object: withField({ metadata }, 'spec', { conversion }),
        whole: withField(kind.crd, 'spec', { ...kind.crd.spec, conversion }),
      };
    }),
  ];
}

/** Of an object whose type is not that of its kind, as it is a part of one only. */
function withField(object: KubernetesObject, field: string, value: unknown): KubernetesObject {
  return { ...object, [field]: value };
}

function mutating(webhook: Webhook, registered: Registered): object {
  const { type } = webhook;
  return entry(webhook, registered, { path: paths.mutate(type), prefix: 'mutate', operations: ['CREATE', 'UPDATE'] });
}

function validating(webhook: Webhook, registered: Registered): object {
  const operations = webhook.handlers.validates ?? ['CREATE', 'UPDATE'];
  return entry(webhook, registered, { path: paths.validate(webhook.type), prefix: 'validate', operations });
}

function entry(
  { type, handlers }: Webhook,
  registered: Registered,
  asked: { readonly path: string; readonly prefix: string; readonly operations: readonly string[] },
): object {
  return {
    name: `${asked.prefix}.${type.version}.${resourceName(type)}`,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(registered, asked.path),
    failurePolicy: handlers.failurePolicy ?? 'Fail',
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: handlers.timeoutSeconds ?? 10,
    ...handlers.asks,
    rules: [
      {
        apiGroups: [type.group],
        apiVersions: [type.version],
        operations: asked.operations,
        resources: [type.plural],
        scope: type.isNamespaced ? 'Namespaced' : 'Cluster',
      },
    ],
  };
}

function clientConfig({ address, bundle }: Registered, path: string): object {
  const caBundle = Buffer.from(bundle, 'utf8').toString('base64');
  return 'url' in address
    ? { caBundle, url: new URL(path, address.url).href }
    : { caBundle, service: { port: 443, ...address.service, path } };
}
