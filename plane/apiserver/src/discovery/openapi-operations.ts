import type { ResourceDefinition, SubresourceDefinition } from '../registry/resource.js';
import { capital, groupPrefix, tagOf } from './openapi-names.js';

/** What can be done at a path, before it is written as OpenAPI v2 or v3. */
export interface Operation {
  readonly method: Method;
  readonly description: string;
  readonly id: string;
  readonly tag: string;
  /** Names of parameters; those of the path are among them. */
  readonly parameters: readonly string[];
  readonly body?: Body;
  readonly responses: readonly Response[];
  /** Media types of the replies. */
  readonly produces: readonly string[];
  readonly action?: string;
  readonly kind?: GroupVersionKind;
}

interface Body {
  readonly type: TypeReference;
  readonly isRequired: boolean;
  readonly consumes: readonly string[];
}

interface Response {
  readonly status: 200 | 201 | 202;
  /** Absent: a text. */
  readonly type?: TypeReference;
}

/** A type of the table of fields, `meta/v1.Status`, or a kind of a definition by group, version and kind. */
export type TypeReference = string | GroupVersionKind;

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export const json = ['application/json'];
const custom = [...json, 'application/yaml'];
export const builtIn = [...custom, 'application/vnd.kubernetes.protobuf'];
const watched = [...builtIn, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const patches = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const strategic = 'application/strategic-merge-patch+json';

const ofLists = [
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
].concat(['sendInitialEvents', 'shardSelector', 'timeoutSeconds']);
const ofWatches = ['allowWatchBookmarks', ...ofLists, 'watch'];
const ofDeletions = ['dryRun', 'gracePeriodSeconds', 'ignoreStoreReadErrorWithClusterBreakingPotential'].concat([
  'orphanDependents',
  'propagationPolicy',
]);
const ofWrites = ['dryRun', 'fieldManager', 'fieldValidation'];
const ofPatches = ['dryRun', 'fieldManager:patch', 'fieldValidation', 'force'];

const deprecated = "deprecated: use the 'watch' parameter with a list operation instead";

type Detail = Pick<Operation, 'method' | 'description' | 'id' | 'action' | 'responses'> & Partial<Operation>;

/** Writes one kind's operations, in upstream's words and with its operation ids. */
export class KindOperations {
  readonly #definition: ResourceDefinition;
  readonly #own: GroupVersionKind;
  readonly #scope: string;
  readonly #group: string;

  constructor(definition: ResourceDefinition) {
    const { group, version, kind, isNamespaced } = definition;
    this.#definition = definition;
    this.#own = { group, version, kind };
    this.#scope = isNamespaced ? 'Namespaced' : '';
    this.#group = `${groupPrefix(group)}${capital(version)}`;
  }

  collection(): readonly Operation[] {
    const { verbs, kind, isCustom } = this.#definition;
    return [
      ...(verbs.includes('list') ? [this.list(false)] : []),
      ...(verbs.includes('create') ? [this.#write('post', this.#own, '')] : []),
      ...(verbs.includes('deletecollection')
        ? [
            this.#operation({
              method: 'delete',
              action: 'deletecollection',
              description: `delete collection of ${kind}`,
              id: `delete${this.#group}Collection${this.#scope}${kind}`,
              parameters: isCustom ? ofWatches : [...ofLists, ...ofDeletions],
              ...(isCustom ? {} : { body: this.#deleteOptions() }),
              responses: [{ status: 200, type: 'meta/v1.Status' }],
            }),
          ]
        : []),
    ];
  }

  object(): readonly Operation[] {
    const { verbs } = this.#definition;
    return [
      ...(verbs.includes('get') ? [this.#read(this.#own, '')] : []),
      ...(verbs.includes('update') ? [this.#write('put', this.#own, '')] : []),
      ...(verbs.includes('patch') ? [this.#patch(this.#own, '')] : []),
      ...(verbs.includes('delete') ? [this.#delete()] : []),
    ];
  }

  subresource({ name, kind, verbs, group, version }: SubresourceDefinition): readonly Operation[] {
    const own = { group: group ?? this.#own.group, version: version ?? this.#own.version, kind };
    return [
      ...(verbs.includes('get') ? [name === 'log' ? this.#log() : this.#read(own, name)] : []),
      ...(verbs.includes('update') ? [this.#write('put', own, name)] : []),
      ...(verbs.includes('patch') ? [this.#patch(own, name)] : []),
      ...(verbs.includes('create') ? [this.#write('post', own, name)] : []),
    ];
  }

  /** Subresources that are connections: any method that they know carries the same. */
  connect({ name, kind, verbs }: SubresourceDefinition, suffix: string): readonly Operation[] {
    const methods = { get: 'get', create: 'post', update: 'put', patch: 'patch', delete: 'delete' } as const;
    const known = name === 'proxy' ? (['options', 'head'] as const) : [];
    const parent = this.#definition;
    return [...verbs.map((verb) => methods[verb]), ...known].map((method) => ({
      method,
      action: 'connect',
      description: `connect ${method.toUpperCase()} requests to ${name} of ${parent.kind}`,
      id: `connect${this.#group}${capital(method)}${this.#scope}${parent.kind}${capital(name)}${suffix}`,
      tag: tagOf(parent.group, parent.version),
      parameters: [`stream:${parent.plural}/${name}`],
      responses: [{ status: 200 }],
      produces: ['*/*'],
      kind: { group: '', version: 'v1', kind },
    }));
  }

  list(isAcrossNamespaces: boolean): Operation {
    const { kind, listKind, verbs, isCustom } = this.#definition;
    const isWatchable = verbs.includes('watch') && !isCustom;
    return this.#operation({
      method: 'get',
      action: 'list',
      description: `list ${isWatchable ? 'or watch ' : ''}objects of kind ${kind}`,
      id: isAcrossNamespaces ? `list${this.#group}${kind}ForAllNamespaces` : `list${this.#group}${this.#scope}${kind}`,
      parameters: ofWatches,
      responses: [{ status: 200, type: { ...this.#own, kind: listKind } }],
      produces: isCustom ? custom : watched,
    });
  }

  watchList(isAcrossNamespaces: boolean): Operation {
    const { kind } = this.#definition;
    return this.#operation({
      method: 'get',
      action: 'watchlist',
      description: `watch individual changes to a list of ${kind}. ${deprecated}.`,
      id: isAcrossNamespaces
        ? `watch${this.#group}${kind}ListForAllNamespaces`
        : `watch${this.#group}${this.#scope}${kind}List`,
      parameters: ofWatches,
      responses: [{ status: 200, type: 'meta/v1.WatchEvent' }],
      produces: watched,
    });
  }

  watchObject(): Operation {
    const { kind } = this.#definition;
    return this.#operation({
      method: 'get',
      action: 'watch',
      description: `watch changes to an object of kind ${kind}. ${deprecated}, filtered to a single item with the 'fieldSelector' parameter.`,
      id: `watch${this.#group}${this.#scope}${kind}`,
      parameters: ofWatches,
      responses: [{ status: 200, type: 'meta/v1.WatchEvent' }],
      produces: watched,
    });
  }

  #read(type: GroupVersionKind, below: string): Operation {
    return this.#operation({
      method: 'get',
      action: 'get',
      description: `read ${of(below)}the specified ${this.#own.kind}`,
      id: this.#id('read', below),
      parameters: this.#definition.isCustom ? ['resourceVersion'] : [],
      responses: [{ status: 200, type }],
      kind: type,
    });
  }

  #write(method: 'post' | 'put', type: GroupVersionKind, below: string): Operation {
    const isCreation = method === 'post';
    const object = isCreation ? this.#one() : `the specified ${this.#own.kind}`;
    const statuses = isCreation ? ([200, 201, 202] as const) : ([200, 201] as const);
    return this.#operation({
      method,
      action: method,
      description: `${isCreation ? 'create' : 'replace'} ${of(below)}${object}`,
      id: this.#id(isCreation ? 'create' : 'replace', below),
      parameters: ofWrites,
      body: { type, isRequired: true, consumes: this.#definition.isCustom ? custom : ['*/*'] },
      responses: statuses.map((status) => ({ status, type })),
      kind: type,
    });
  }

  #patch(type: GroupVersionKind, below: string): Operation {
    const { isCustom } = this.#definition;
    const statuses = isCustom ? ([200] as const) : ([200, 201] as const);
    return this.#operation({
      method: 'patch',
      action: 'patch',
      description: `partially update ${of(below)}the specified ${this.#own.kind}`,
      id: this.#id('patch', below),
      parameters: ofPatches,
      body: { type: 'meta/v1.Patch', isRequired: true, consumes: isCustom ? patches : [...patches, strategic] },
      responses: statuses.map((status) => ({ status, type })),
      kind: type,
    });
  }

  #delete(): Operation {
    const { returnsDeleted } = this.#definition;
    const type: TypeReference = returnsDeleted && this.#own.kind !== 'Namespace' ? this.#own : 'meta/v1.Status';
    return this.#operation({
      method: 'delete',
      action: 'delete',
      description: `delete ${this.#one()}`,
      id: this.#id('delete', ''),
      parameters: ofDeletions,
      body: this.#deleteOptions(),
      responses: [
        { status: 200, type },
        { status: 202, type },
      ],
    });
  }

  #log(): Operation {
    return this.#operation({
      method: 'get',
      action: 'get',
      description: `read log of the specified ${this.#own.kind}`,
      id: this.#id('read', 'log'),
      parameters: [`stream:${this.#definition.plural}/log`],
      responses: [{ status: 200 }],
      produces: ['text/plain', ...builtIn],
    });
  }

  /** `a Pod`, `an Event`, `Endpoints`; custom kinds all have `a`. */
  #one(): string {
    const { kind, isCustom } = this.#definition;
    if (isCustom) return `a ${kind}`;
    if (/[^s]s$/.test(kind)) return kind;
    return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;
  }

  #deleteOptions(): Body {
    const consumes = this.#definition.isCustom ? custom : ['*/*'];
    return { type: 'meta/v1.DeleteOptions', isRequired: false, consumes };
  }

  #id(verb: string, below: string): string {
    return `${verb}${this.#group}${this.#scope}${this.#own.kind}${capital(below)}`;
  }

  #operation(detail: Detail): Operation {
    const { group, version, isCustom } = this.#definition;
    return {
      tag: tagOf(group, version),
      produces: isCustom ? custom : builtIn,
      kind: this.#own,
      ...detail,
      parameters: [...(detail.parameters ?? []), 'pretty'],
    };
  }
}

function of(below: string): string {
  return below === '' ? '' : `${below} of `;
}
