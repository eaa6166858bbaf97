import { type CommandResult, runCommand } from '../sandbox/command.js';

/** Commands in one transaction. Rejects where the machine has no nft. An ordinary user's PATH may lack the directory where nft is. */
export async function runNft(commands: readonly string[]): Promise<CommandResult> {
  const { PATH = '', ...rest } = definedOf(process.env);
  const environment = { ...rest, PATH: `${PATH}:/usr/sbin:/sbin` };
  return await runCommand('nft', ['-f', '-'], { input: `${commands.join('\n')}\n`, environment });
}

function definedOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
