import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../kinds/custom-resource-definition.js';
import { checkStructural } from '../structural/check-structural.js';
import { type FieldError, fieldError, formatFieldError } from '../validation/field-error.js';
import { dns1035LabelErrors, dns1123SubdomainErrors } from '../validation/names.js';
import { columnErrors } from './printer-columns.js';

/** A definition that an API server would refuse. */
export class KindDefinitionError extends Error {
  override readonly name = 'KindDefinitionError';
  readonly problems: readonly string[];

  constructor(kind: string, problems: readonly string[]) {
    super(`the definition of ${kind} would be refused by an API server:\n${problems.join('\n')}`);
    this.problems = problems;
  }
}

/**
 * What is wrong with a definition, each with its place: `spec.size.default: Invalid value: …`. Rules in CEL are looked at
 * once their engine is loaded.
 */
export function definitionProblems(crd: CustomResourceDefinition): readonly string[] {
  const { versions } = crd.spec;
  const names = versions.map(({ name }) => name);
  const repeated = names.filter((name, index) => names.indexOf(name) < index);
  return [
    ...nameErrors(crd).map(formatFieldError),
    ...repeated.map((name) => formatFieldError(fieldError.duplicate('version', name))),
    ...versions.flatMap((version) => versionProblems(version, versions.length > 1 ? `${version.name}: ` : '')),
  ];
}

function nameErrors({ spec }: CustomResourceDefinition): readonly FieldError[] {
  const { kind, plural, singular = '', shortNames = [], categories = [] } = spec.names;
  const label = (field: string, name: string, checked = name) =>
    dns1035LabelErrors(checked).map((problem) => fieldError.invalid(field, name, problem));
  const groupProblems = dns1123SubdomainErrors(spec.group);
  return [
    ...groupProblems.map((problem) => fieldError.invalid('group', spec.group, problem)),
    ...(groupProblems.length > 0 || spec.group.includes('.')
      ? []
      : [fieldError.invalid('group', spec.group, 'should be a domain with at least one dot')]),
    ...label('kind', kind, kind.toLowerCase()),
    ...label('plural', plural),
    ...label('singular', singular),
    ...shortNames.flatMap((name, index) => label(`shortNames[${index}]`, name)),
    ...categories.flatMap((name, index) => label(`categories[${index}]`, name)),
    ...spec.versions.flatMap(({ name }) => label('version', name)),
  ];
}

function versionProblems(version: CustomResourceDefinitionVersion, prefix: string): readonly string[] {
  const schema = version.schema?.openAPIV3Schema ?? {};
  const problems = checkStructural(schema, '').map((error) => readable(formatFieldError(error)));
  const columns = (version.additionalPrinterColumns ?? []).flatMap((column) => columnErrors(column, schema));
  return [...problems, ...columns.map(formatFieldError)].map((problem) => `${prefix}${problem}`);
}

/** `.properties[spec].properties[members].items.type` becomes `spec.members.items.type`. */
function readable(problem: string): string {
  return problem.replace(/\.properties\[([^\]]+)\]/g, '.$1').replace(/^\./, '');
}
