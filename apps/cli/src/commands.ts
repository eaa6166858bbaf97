import type { Run } from './context.js';

/** One command of the command line: its help, and where its code is. The code is loaded when the command is run. */
export interface CommandDefinition {
  /** One word, or a group (`commandGroups`) and a word. */
  readonly name: string;
  readonly summary: string;
  /** Those that are not options, all of them required; their values are the option `arguments`. */
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options: readonly OptionDefinition[];
  readonly notes?: string;
  load(): Promise<Run>;
}

export interface ArgumentDefinition {
  readonly name: string;
  readonly description: string;
}

export interface OptionDefinition {
  readonly flags: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly isHidden?: boolean;
  readonly kind?: 'port' | 'seconds' | 'count';
}

const file: OptionDefinition = {
  flags: '-f, --file <FILE>',
  description: 'manifest with one or more YAML documents; - reads standard input',
  isRequired: true,
};

const port: OptionDefinition = {
  flags: '--port <N>',
  description: 'port of the API server on 127.0.0.1; 0 takes any free one (default: 7443)',
  kind: 'port',
};

const operators: OptionDefinition = {
  flags: '--operators <LIST>',
  description: 'operators to run, separated by commas, or none (default: all of them)',
};

/** What the commands of a group are about, by its name. */
export const commandGroups: Readonly<Record<string, string>> = {
  image: 'list, load and pull what containers run',
  node: "list, stop and start the plane's nodes",
};

const nodeName: ArgumentDefinition = { name: 'NAME', description: 'of a node, as `castellan node ls` lists it' };

export const commands: readonly CommandDefinition[] = [
  {
    name: 'up',
    summary: 'start a plane: API server, controllers, scheduler, node agent and operators in one process',
    options: [
      port,
      {
        flags: '--storage <WHERE>',
        description:
          'embedded, or etcd://HOST:PORT[,HOST:PORT…] to keep the objects in an etcd cluster; kept over starts (default: embedded)',
      },
      { flags: '--etcd-cafile <FILE>', description: 'PEM of the authority of an etcd with TLS; kept over starts' },
      { flags: '--etcd-certfile <FILE>', description: 'PEM of the certificate to show to that etcd' },
      { flags: '--etcd-keyfile <FILE>', description: 'PEM of the key of that certificate' },
      {
        flags: '--encryption-provider-config <FILE>',
        description:
          'an EncryptionConfiguration (aescbc, aesgcm, secretbox, identity): how objects are sealed in the storage; kept over starts (default: not at all)',
      },
      {
        flags: '--token-auth-file <FILE>',
        description: 'bearer tokens that clients may show, a line each: token,user,uid,"group1,group2"',
      },
      {
        flags: '--audit-log <FILE>',
        description: 'append a JSON line for every request: who asked for what, and what came of it (audit.k8s.io/v1)',
      },
      {
        flags: '--audit-policy-file <FILE>',
        description:
          'a Policy of audit.k8s.io/v1: of which requests the audit log tells, and how much (default: of all, level Metadata)',
      },
      { flags: '--detach', description: 'return when the API server is ready; the plane goes on in the background' },
      operators,
      {
        flags: '--nodes <N>',
        description: 'run so many nodes on this machine, 16 at most; kept over starts (default: 1)',
        kind: 'count',
      },
      {
        flags: '--zones <LIST>',
        description: 'zones of the nodes in turn, separated by commas (topology.kubernetes.io/zone); kept over starts',
      },
      { flags: '--no-node', description: 'run no nodes: pods stay Pending' },
      {
        flags: '--no-controllers',
        description:
          'run no controllers, scheduler or node agent: nothing changes by itself, as in a test of an API client',
      },
      {
        flags: '--announce-to <PIPE>',
        description: 'how --detach hears of the process that it starts',
        isHidden: true,
      },
    ],
    notes:
      'Without --detach the plane runs until Ctrl-C, which stops everything it started; a second Ctrl-C does not wait.',
    load: async () => (await import('./commands/up.js')).up,
  },
  {
    name: 'down',
    summary: 'stop the plane and its pods; leaves no process, namespace, bridge, mount or cgroup',
    options: [],
    notes: 'The data stays: `castellan up` on the same data directory goes on with it.',
    load: async () => (await import('./commands/down.js')).down,
  },
  {
    name: 'status',
    summary: 'what runs, what does not, and why',
    options: [],
    load: async () => (await import('./commands/status.js')).status,
  },
  {
    name: 'node ls',
    summary: 'the nodes of the plane, and whether they run',
    options: [],
    load: async () => (await import('./commands/node.js')).listNodes,
  },
  {
    name: 'node stop',
    summary: 'switch a node off, as by a loss of power: its processes are gone at once, and nobody is told',
    arguments: [nodeName],
    options: [],
    notes: 'Volumes stay. The node stays off until `castellan node start`, over restarts of the plane too.',
    load: async () => (await import('./commands/node.js')).stopNode,
  },
  {
    name: 'node start',
    summary: 'switch a node on: its pods start again from their volumes',
    arguments: [nodeName],
    options: [],
    load: async () => (await import('./commands/node.js')).startNode,
  },
  {
    name: 'image ls',
    summary: 'images that were loaded or pulled, and programs of the machine that stand for images',
    options: [],
    notes: 'Works without a running plane.',
    load: async () => (await import('./commands/image.js')).listImages,
  },
  {
    name: 'image load',
    summary: 'unpack an archive of images: from `docker save`, or an OCI layout; with gzip, zstd or neither',
    arguments: [{ name: 'FILE', description: 'the archive' }],
    options: [{ flags: '--name <NAME>', description: 'call it so, besides what the archive calls it' }],
    notes: 'A running plane finds it at once; pods that wait for it start.',
    load: async () => (await import('./commands/image.js')).loadImage,
  },
  {
    name: 'image pull',
    summary: 'bring an image from its registry, by skopeo',
    arguments: [{ name: 'IMAGE', description: 'such as docker.io/library/redis:7, or redis:7' }],
    options: [],
    load: async () => (await import('./commands/image.js')).pullNamedImage,
  },
  {
    name: 'explain',
    summary: 'why an object was reconciled last, what that did, and what is waited for',
    arguments: [{ name: 'KIND/NAME', description: 'such as etcdcluster/demo; kinds and plurals, in any case' }],
    options: [
      { flags: '-n, --namespace <NAME>', description: 'of the object (default: default)' },
      {
        flags: '--manager <URL>',
        description:
          "ask an operator that runs elsewhere, at the address of its metrics (default: the data directory's plane)",
      },
    ],
    load: async () => (await import('./commands/explain.js')).explain,
  },
  {
    name: 'apply',
    summary: 'create or change the objects of a manifest',
    options: [file],
    load: async () => (await import('./commands/apply.js')).apply,
  },
  {
    name: 'plan',
    summary: 'what applying a manifest would do, step by step; changes nothing',
    options: [file],
    notes: 'Works without a running plane: the plan is then that of a new cluster.',
    load: async () => (await import('./commands/plan.js')).plan,
  },
  {
    name: 'new',
    summary: 'make a project of your own: an operator that is explored, simulated and running in ten minutes',
    arguments: [
      { name: 'WHAT', description: 'operator' },
      { name: 'NAME', description: 'of what it operates, such as memcached; lower case, with - between words' },
    ],
    options: [
      { flags: '--dir <DIR>', description: 'where; it must be empty or absent (default: ./NAME-operator)' },
      { flags: '--group <GROUP>', description: 'API group of its kind (default: example.com)' },
      { flags: '--image <IMAGE>', description: 'what its pods run (default: NAME:latest)' },
      { flags: '--container-port <N>', description: 'where they listen (default: 8080)', kind: 'port' },
    ],
    notes: 'The tutorial goes on from there: docs/tutorial.md.',
    load: async () => (await import('./commands/new.js')).newProject,
  },
  {
    name: 'kubeconfig',
    summary: "print the plane's kubeconfig for kubectl and other clients",
    options: [],
    load: async () => (await import('./commands/kubeconfig.js')).kubeconfig,
  },
  {
    name: 'proxy',
    summary: 'the API server on a loopback port without credentials, for browsers and programs that have none',
    options: [{ flags: '--port <N>', description: 'on 127.0.0.1; 0 takes any free one (default: 8001)', kind: 'port' }],
    notes:
      'Services and pods are below it: /api/v1/namespaces/NAMESPACE/services/NAME:PORT/proxy/. Whoever may use this machine is an administrator of the plane through it; pages of other sites are refused.',
    load: async () => (await import('./commands/proxy.js')).proxy,
  },
  {
    name: 'doctor',
    summary: 'check the machine and the plane; each finding with its next step',
    options: [],
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  {
    name: 'demo',
    summary: 'start a plane and a three-member etcd cluster, show its plan, write and read a key (npm start)',
    options: [
      { flags: '--once', description: 'tear everything down at the end and exit' },
      port,
      {
        flags: '--deadline <SECONDS>',
        description: 'for the cluster to become available (default: 180)',
        kind: 'seconds',
      },
    ],
    load: async () => (await import('./commands/demo.js')).demo,
  },
];
