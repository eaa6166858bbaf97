import { compareVersions } from '../discovery/version-order.js';
import { type ApiObject, at, type JsonRecord, records, text } from '../json.js';

/** What clients of a version are warned of: its own words, or that it is deprecated and which version to use instead. */
export function deprecationOf(crd: ApiObject, version: JsonRecord): string | undefined {
  if (version.deprecated !== true) return undefined;
  const told = text(version.deprecationWarning);
  if (told !== undefined) return told;
  const [group, kind] = [text(at(crd, 'spec', 'group')) ?? '', text(at(crd, 'spec', 'names', 'kind')) ?? ''];
  const name = text(version.name) ?? '';
  const [better] = records(at(crd, 'spec', 'versions'))
    .filter(({ served, deprecated }) => served === true && deprecated !== true)
    .map((other) => text(other.name) ?? '')
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions);
  const message = `${group}/${name} ${kind} is deprecated`;
  return better === undefined ? message : `${message}; use ${group}/${better} ${kind}`;
}
