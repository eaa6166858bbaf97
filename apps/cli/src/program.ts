import { Command, InvalidArgumentError, Option } from 'commander';
import { type CommandDefinition, commandGroups, commands, type OptionDefinition } from './commands.js';
import type { Options } from './context.js';

export interface ParsedCommand {
  readonly command: CommandDefinition;
  readonly options: Options;
}

const sharedOptions: readonly OptionDefinition[] = [
  {
    flags: '--data-dir <DIR>',
    description: 'where the plane keeps everything (default: $CASTELLAN_HOME, else ./.castellan)',
  },
  { flags: '-o, --output <FORMAT>', description: 'text for people or json for programs (default: text)' },
];

/**
 * Builds the argument parser from the command table. `onCommand` hears which command was asked for; help and usage
 * errors are written by the parser, which then throws `CommanderError`.
 */
export function createProgram(version: string, onCommand: (parsed: ParsedCommand) => void): Command {
  const program = new Command('castellan')
    .description('Runs stateful systems on Kubernetes, and a Kubernetes-compatible control plane of its own.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureHelp({ helpWidth: 110 })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '✗ ')) })
    .exitOverride();
  for (const option of sharedOptions) program.addOption(toOption(option));
  program.addHelpText('after', '\nExit status: 0 ok, 1 failed, 2 usage, 3 not found, 6 deadline, 7 precondition.');
  for (const command of commands) addCommand(program, command, onCommand);
  return program;
}

/** Where a command is added: a name of two words is one of a group, which is made when its first one comes. */
function groupOf(program: Command, { name }: CommandDefinition): Command {
  const [group, ...rest] = name.split(' ');
  if (group === undefined || rest.length === 0) return program;
  const known = program.commands.find((command) => command.name() === group);
  const summary = commandGroups[group] ?? '';
  return (
    known ??
    program
      .command(group)
      .summary(summary)
      .description(sentence(summary))
      .helpCommand(false)
      .copyInheritedSettings(program)
  );
}

function addCommand(program: Command, definition: CommandDefinition, onCommand: (parsed: ParsedCommand) => void): void {
  const command = groupOf(program, definition)
    .command(definition.name.split(' ').at(-1) ?? '')
    .summary(definition.summary)
    .description(sentence(definition.summary));
  for (const option of [...definition.options, ...sharedOptions]) command.addOption(toOption(option));
  for (const { name, description } of definition.arguments ?? []) command.argument(`<${name}>`, description);
  if (definition.notes !== undefined) command.addHelpText('after', `\n${definition.notes}`);
  command.allowExcessArguments(false).copyInheritedSettings(program);
  command.action(() => {
    const options: Options = command.opts();
    onCommand({ command: definition, options: { ...program.opts(), ...options, arguments: command.args } });
  });
}

function toOption(definition: OptionDefinition): Option {
  const { flags, description, isRequired = false, isHidden = false } = definition;
  const option = new Option(flags, description).makeOptionMandatory(isRequired).hideHelp(isHidden);
  if (definition.kind === 'port') option.argParser(parsePort);
  if (definition.kind === 'count') option.argParser(parseCount);
  if (definition.kind === 'seconds') option.argParser(parseSeconds);
  if (definition.flags.includes('--output')) option.choices(['text', 'json']);
  return option;
}

function parsePort(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}

function parseCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('A number is a whole one above 0.');
}

function parseSeconds(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Seconds are a number above 0.');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
