import { type FieldError, fieldError, invalidError, StatusError } from '@castellan/machinery';
import { badRequest, conflict, methodNotAllowed, notFound } from '../errors.js';
import { type ApiObject, at, count, list, text } from '../json.js';
import { timestamp, timestampOf } from '../registry/strategy.js';
import { readObject } from '../request/body.js';
import type { ResourceExchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import { writtenBy } from './review-metadata.js';
import type { BoundKind, BoundObject } from './service-account-tokens.js';

const type = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } as const;
const defaultSeconds = 3600;
const minSeconds = 600;
const maxSeconds = 2 ** 32;
/**
 * What the volume of a pod asks for (admission/token-volume.ts). Programs that read their token once and never again
 * would be shut out after an hour: the token is told to end then, so that it is renewed, but holds for a year.
 */
const volumeSeconds = 3607;
const extendedSeconds = 365 * 24 * 60 * 60;

/** POST serviceaccounts/NAME/token: a token that ends with its time, its account, or what it is bound to. */
export async function serveTokenRequest(server: Server, exchange: ResourceExchange): Promise<void> {
  const { info, request, reply, resource } = exchange;
  const { tokens } = server;
  if (request.method !== 'POST') throw methodNotAllowed();
  const { object: sent } = await readObject(request, type);
  const name = info.name ?? '';
  const namespace = info.namespace ?? '';
  const account = await tokens.find('serviceaccounts', namespace, name);
  if (account === undefined) throw notFound(resource.definition, name);
  const asked = list(at(sent, 'spec', 'audiences')).flatMap((audience) => text(audience) ?? []);
  const audiences = asked.length === 0 ? [tokens.issuer] : asked;
  const expirationSeconds = count(at(sent, 'spec', 'expirationSeconds')) ?? defaultSeconds;
  const errors = durationErrors(expirationSeconds);
  if (errors.length > 0) throw invalidError(type, '', errors);
  const reference = at(sent, 'spec', 'boundObjectRef') ?? null;
  const bound = reference === null ? undefined : await boundObject(server, account, reference);
  const { definition } = resource;
  await exchange.tools.admission?.validate({
    definition,
    operation: 'CREATE',
    subresource: 'token',
    namespace,
    name,
    object: sent,
  });
  const isExtended =
    bound?.kind === 'pod' && expirationSeconds === volumeSeconds && audiences.every((each) => each === tokens.issuer);
  const token = tokens.issue({
    account,
    audiences,
    ...(isExtended
      ? { expirationSeconds: extendedSeconds, warnAfterSeconds: expirationSeconds }
      : { expirationSeconds }),
    ...(bound === undefined ? {} : { bound }),
  });
  const expiresAtMs = server.world.clock.now() + expirationSeconds * 1000;
  const metadata = { name, namespace, uid: account.metadata.uid, creationTimestamp: timestamp(server.world) };
  await reply.object(201, {
    kind: type.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { ...metadata, ...writtenBy(server, request, sent, 'token') },
    spec: { audiences, expirationSeconds, boundObjectRef: reference },
    status: { token, expirationTimestamp: timestampOf(expiresAtMs) },
  });
}

function durationErrors(seconds: number): readonly FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < minSeconds) {
    return [fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds > maxSeconds) {
    return [fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  }
  return [];
}

const boundKinds: Readonly<Record<string, BoundKind>> = { Pod: 'pod', Secret: 'secret', Node: 'node' };

async function boundObject(server: Server, account: ApiObject, reference: unknown): Promise<BoundObject> {
  const kindName = text(at(reference, 'kind')) ?? '';
  const apiVersion = text(at(reference, 'apiVersion')) ?? '';
  const kind = Object.hasOwn(boundKinds, kindName) && apiVersion === 'v1' ? boundKinds[kindName] : undefined;
  if (kind === undefined) {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kindName}`);
  }
  const name = text(at(reference, 'name')) ?? '';
  const plural = `${kind}s`;
  const { metadata } = account;
  const found = await server.tokens.find(plural, kind === 'node' ? '' : (metadata.namespace ?? ''), name);
  if (found === undefined) {
    throw StatusError.of('NotFound', `${plural} "${name}" not found`, { name, kind: plural });
  }
  const uid = found.metadata.uid ?? '';
  const askedUid = text(at(reference, 'uid')) || uid;
  if (askedUid !== uid) {
    const problem = `the UID in the bound object reference (${askedUid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural, kind: kindName }, name, problem);
  }
  if (kind !== 'pod') return { kind, name, uid };
  if (text(at(found, 'spec', 'serviceAccountName')) !== metadata.name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${metadata.name ?? ''}" to pod running with different serviceaccount name.`,
    );
  }
  const nodeName = text(at(found, 'spec', 'nodeName')) ?? '';
  const node = nodeName === '' ? undefined : await server.tokens.find('nodes', '', nodeName);
  return { kind, name, uid, ...(node === undefined ? {} : { node: { name: nodeName, uid: node.metadata.uid ?? '' } }) };
}
