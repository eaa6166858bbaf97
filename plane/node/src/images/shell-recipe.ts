import { existsSync } from 'node:fs';
import type { LayerFile } from '../sandbox/root-file-system.js';
import type { Image, ImageRecipe, OfferedProgram } from './image.js';
import type { ImageName } from './image-name.js';

/** Answers and exits as busybox's nslookup does, which init containers wait with. */
const nslookup: LayerFile = {
  path: '/usr/local/bin/nslookup',
  mode: 0o755,
  content: `#!/bin/sh
# nslookup NAME, made of getent, which follows the search list of /etc/resolv.conf.
name=$1
server=$(sed -n 's/^nameserver //p' /etc/resolv.conf | head -n 1)
printf 'Server:    %s\\n\\n' "$server"
if addresses=$(getent ahostsv4 "$name"); then
  printf 'Name:      %s\\n' "$name"
  printf '%s\\n' "$addresses" | awk '!seen[$1]++ { printf "Address %d: %s\\n", ++count, $1 }'
else
  printf "nslookup: can't resolve '%s'\\n" "$name" >&2
  exit 1
fi
`,
};

const imagePaths: ReadonlySet<string> = new Set(['busybox', 'alpine', 'debian', 'ubuntu']);

/** Images that are a shell and the usual tools: the machine's own are in every container anyway. */
export class ShellRecipe implements ImageRecipe {
  readonly shortNames = [...imagePaths];

  matches(image: ImageName): boolean {
    return imagePaths.has(image.path);
  }

  async offers(): Promise<readonly OfferedProgram[]> {
    return [{ images: this.shortNames, origin: "the machine's own shell and tools" }];
  }

  async resolve(image: ImageName): Promise<Image> {
    return {
      id: `program://bin/sh@${image.path}`,
      description: `the machine's own shell and tools in place of ${image.path} ${image.tag}`,
      mounts: [],
      files: existsSync('/usr/bin/nslookup') ? [] : [nslookup],
      entrypoint: [],
      arguments: ['/bin/sh'],
      environment: {},
      workingDirectory: '/',
    };
  }
}
