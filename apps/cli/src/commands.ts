import type { Run } from './context.js';

/** One command of the command line: its help, and where its code is. The code is loaded when the command is run. */
export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionDefinition[];
  readonly notes?: string;
  load(): Promise<Run>;
}

export interface OptionDefinition {
  readonly flags: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly kind?: 'port' | 'seconds';
}

export const commands: readonly CommandDefinition[] = [
  {
    name: 'kubeconfig',
    summary: "print the plane's kubeconfig for kubectl and other clients",
    options: [],
    load: async () => (await import('./commands/kubeconfig.js')).kubeconfig,
  },
];
