import type { Client } from '@castellan/client';
import type { KubernetesObject, ResourceType } from '@castellan/machinery';

interface DiscoveredResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Finds the type of any object whose kind the API server serves, as kubectl does. */
export class ServedKinds {
  readonly #client: Client;
  readonly #types = new Map<string, ResourceType>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Fails where the kind is not served. */
  async typeOf({ apiVersion = '', kind = '' }: KubernetesObject): Promise<ResourceType> {
    const known = this.#types.get(`${apiVersion} ${kind}`);
    if (known !== undefined) return known;
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { body } = await this.#client.request({ method: 'GET', path });
    let text = '';
    for await (const chunk of body) text += Buffer.from(chunk).toString('utf8');
    const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly DiscoveredResource[] };
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (found === undefined)
      throw new Error(`the API server does not serve ${kind} of ${apiVersion}; next: install its definition`);
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const type = { group, version, kind, plural: found.name, isNamespaced: found.namespaced };
    this.#types.set(`${apiVersion} ${kind}`, type);
    return type;
  }
}
