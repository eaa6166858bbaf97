import type { Environment } from '@marcbachmann/cel-js';
import type { SchemaType } from './schema-type.js';

const scalarNames: Readonly<Record<string, string>> = {
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
};

/** The names of the types of objects that an environment knows: counted, as nobody reads them. */
const typeNames = new WeakMap<Environment, Map<SchemaType, string>>();

/** Makes a schema's type known to cel-js and says its name there. */
export function declareType(environment: Environment, type: SchemaType): string {
  switch (type.kind) {
    case 'scalar':
      return scalarNames[type.name] ?? type.name;
    case 'list':
      return `list<${declareType(environment, type.items)}>`;
    case 'map':
      return `map<string, ${declareType(environment, type.values)}>`;
    case 'object': {
      const names = typeNames.get(environment) ?? new Map<SchemaType, string>();
      typeNames.set(environment, names);
      const known = names.get(type);
      if (known !== undefined) return known;
      const fields = Object.fromEntries(
        [...type.fields].map(([name, field]) => [name, declareType(environment, field)]),
      );
      const name = `object${names.size + 1}`;
      environment.registerType(name, { fields });
      names.set(type, name);
      return name;
    }
    default:
      return type satisfies never;
  }
}
