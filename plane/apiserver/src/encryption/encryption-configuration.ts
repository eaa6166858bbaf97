import { parse } from 'yaml';
import { type JsonRecord, record, records, text } from '../json.js';
import type { Encryption } from './encryption.js';
import { EncryptionConfigurationError } from './encryption-configuration-error.js';
import { type Key, type ProviderName, providerOf, secretLengths } from './providers.js';
import {
  firstWritesAllRead,
  identity,
  type Provider,
  plainValues,
  type ValueTransformer,
} from './value-transformer.js';

const apiVersion = 'apiserver.config.k8s.io/v1';
const kind = 'EncryptionConfiguration';
const isProviderName = (name: string): name is ProviderName => name in secretLengths;

/**
 * Reads an EncryptionConfiguration (YAML or JSON), the file of kube-apiserver's `--encryption-provider-config`.
 * `resources` are `secrets`, `deployments.apps`, `*.apps` (a group), `*.` (the core group) and `*.*`; the most exact one
 * decides. Providers are identity, aescbc, aesgcm and secretbox; kms is refused.
 * Source: kubernetes.io, "Encrypting Confidential Data at Rest".
 *
 * @throws EncryptionConfigurationError
 */
export function parseEncryptionConfiguration(source: string): Encryption {
  const problems: string[] = [];
  const file = documentOf(source);
  if (file.apiVersion !== apiVersion || file.kind !== kind)
    problems.push(`it is not apiVersion ${apiVersion}, kind ${kind}`);
  problems.push(...unknownFields(file, '', ['apiVersion', 'kind', 'resources']));
  const providersOf = new Map<string, readonly Provider[]>();
  const rules = records(file.resources);
  if (rules.length === 0) problems.push('resources: Required value: at least one resources is required');
  rules.forEach((rule, index) => {
    const path = `resources[${index}]`;
    problems.push(...unknownFields(rule, path, ['resources', 'providers']));
    const providers = parseProviders(rule, `${path}.providers`, problems);
    for (const name of resourceNames(rule, `${path}.resources`, problems)) {
      if (providersOf.has(name))
        problems.push(`${path}.resources: Invalid value: ${JSON.stringify(name)}: named twice`);
      providersOf.set(name, providers);
    }
  });
  if (problems.length > 0) throw new EncryptionConfigurationError(problems.join('\n'));
  const transformers = new Map<string, ValueTransformer>();
  for (const [name, [first, ...others]] of providersOf) {
    if (first !== undefined) transformers.set(name, firstWritesAllRead([first, ...others]));
  }
  return {
    transformerOf: ({ group, plural }) =>
      transformers.get(`${plural}.${group}`) ??
      transformers.get(`*.${group}`) ??
      transformers.get('*.*') ??
      plainValues,
  };
}

function documentOf(source: string): JsonRecord {
  try {
    return record(parse(source));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EncryptionConfigurationError(`it is not YAML: ${reason}`);
  }
}

/** As `plural.group`; the core group's end in a dot. */
function resourceNames(rule: JsonRecord, path: string, problems: string[]): readonly string[] {
  const names = Array.isArray(rule.resources) ? rule.resources.map(String) : [];
  if (names.length === 0) problems.push(`${path}: Required value: at least one ${path} is required`);
  for (const name of names) {
    if (name === '*') problems.push(`${path}: Invalid value: "*": use *.* for all resources, or *. for the core group`);
    else if (!/^(?:\*|[a-z0-9-]+)(?:\.(?:\*|[a-z0-9.-]*))?$/.test(name)) {
      problems.push(
        `${path}: Invalid value: ${JSON.stringify(name)}: not RESOURCE, RESOURCE.GROUP, *.GROUP, *. or *.*`,
      );
    } else if (/^[a-z0-9-]+\.\*/.test(name)) {
      problems.push(`${path}: Invalid value: ${JSON.stringify(name)}: a group's name cannot be *`);
    }
  }
  return names.map((name) => (name.includes('.') ? name : `${name}.`));
}

function parseProviders(rule: JsonRecord, path: string, problems: string[]): readonly Provider[] {
  const entries = records(rule.providers);
  if (entries.length === 0) problems.push(`${path}: Required value: at least one ${path} is required`);
  return entries.flatMap((entry, index) => {
    const at = `${path}[${index}]`;
    const [name, ...more] = Object.keys(entry);
    if (more.length > 0) {
      problems.push(
        `${at}: more than one provider specified in a single element, should split into different list elements`,
      );
      return [];
    }
    if (name === 'identity') return [identity];
    if (name === 'kms')
      problems.push(`${at}.kms: key management services are not supported: use aesgcm, aescbc or secretbox`);
    if (name === undefined || !isProviderName(name)) {
      if (name !== 'kms') problems.push(`${at}: not one of the providers aescbc, aesgcm, secretbox, identity`);
      return [];
    }
    return parseKeys(name, entry[name], `${at}.${name}`, problems).map((key) => providerOf(name, key));
  });
}

function parseKeys(type: ProviderName, value: unknown, path: string, problems: string[]): readonly Key[] {
  const keys = records(record(value).keys);
  problems.push(...unknownFields(record(value), path, ['keys']));
  if (keys.length === 0) problems.push(`${path}.keys: Required value: at least one keys is required`);
  const names = new Set<string>();
  return keys.flatMap((key, index) => {
    const at = `${path}.keys[${index}]`;
    const name = text(key.name) ?? '';
    const encoded = text(key.secret) ?? '';
    const secret = Buffer.from(encoded, 'base64');
    const before = problems.length;
    problems.push(...unknownFields(key, at, ['name', 'secret']));
    if (name === '') problems.push(`${at}.name: Required value: name is a mandatory field for a key`);
    if (name.includes(':')) problems.push(`${at}.name: Invalid value: ${JSON.stringify(name)}: must not contain ":"`);
    if (names.has(name)) problems.push(`${at}.name: Duplicate value: ${JSON.stringify(name)}`);
    names.add(name);
    const lengths: readonly number[] = secretLengths[type];
    // The secret itself is never repeated.
    if (encoded === '') problems.push(`${at}.secret: Required value: secret is a mandatory field for a key`);
    else if (secret.toString('base64') !== encoded)
      problems.push(`${at}.secret: Invalid value: secrets must be base64 encoded`);
    else if (!lengths.includes(secret.length)) {
      const wanted = `[${lengths.join(' ')}]`;
      problems.push(
        `${at}.secret: Invalid value: secret is not of the expected length, got ${secret.length}, expected one of ${wanted}`,
      );
    }
    return problems.length > before ? [] : [{ name, secret }];
  });
}

function unknownFields(value: JsonRecord, path: string, known: readonly string[]): readonly string[] {
  const unknown = Object.keys(value).filter((field) => !known.includes(field));
  return unknown.map((field) => `unknown field "${path === '' ? field : `${path}.${field}`}"`);
}
