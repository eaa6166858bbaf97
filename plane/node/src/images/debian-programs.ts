import type { LayerFile } from '../sandbox/root-file-system.js';
import type { Image } from './image.js';

/** A server that Debian has a package of, and how its usual image is laid out. */
export interface DebianProgram {
  /** Paths of the images that stand for it, without their registry. */
  readonly images: readonly string[];
  readonly path: string;
  readonly package: string;
  /** What people call it. */
  readonly name: string;
  /** Its `--version`, and the version in what that prints. */
  readonly versionArguments: readonly string[];
  readonly versionPattern: RegExp;
  /** What the image runs when the pod names no command, and the rest of what it is. */
  readonly image: Pick<Image, 'arguments'> &
    Partial<
      Pick<Image, 'entrypoint' | 'environment' | 'files' | 'links' | 'copies' | 'stopSignal' | 'workingDirectory'>
    >;
}

/** As in nginx's official image, but for the user: a container's root is nobody outside of it, and may be the only user there is. */
const nginxFiles: readonly LayerFile[] = [
  {
    path: '/etc/nginx/nginx.conf',
    content: `user root;
worker_processes auto;
error_log stderr notice;
pid /run/nginx.pid;

events {
    worker_connections 1024;
}

http {
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    log_format main '$remote_addr - $remote_user [$time_local] "$request" '
                    '$status $body_bytes_sent "$http_referer" '
                    '"$http_user_agent" "$http_x_forwarded_for"';
    access_log /var/log/nginx/access.log main;
    sendfile on;
    keepalive_timeout 65;
    include /etc/nginx/conf.d/*.conf;
}
`,
  },
  {
    path: '/etc/nginx/conf.d/default.conf',
    content: `server {
    listen 80;
    server_name localhost;
    location / {
        root /usr/share/nginx/html;
        index index.html index.htm;
    }
    error_page 500 502 503 504 /50x.html;
    location = /50x.html {
        root /usr/share/nginx/html;
    }
}
`,
  },
  // The program makes its directories for requests in here.
  { path: '/var/lib/nginx/.keep', content: '' },
];

/** The machine's files are in every container anyway, so most programs need nothing of their image but themselves. */
export const debianPrograms: readonly DebianProgram[] = [
  {
    images: ['memcached', 'bitnami/memcached'],
    path: '/usr/bin/memcached',
    package: 'memcached',
    name: 'memcached',
    versionArguments: ['-V'],
    versionPattern: /^memcached (\S+)/,
    // It refuses to be root unless it is told to; the container's root is nobody outside of it.
    image: { arguments: ['memcached', '-u', 'root'] },
  },
  {
    images: ['nginx'],
    path: '/usr/sbin/nginx',
    package: 'nginx-light',
    name: 'nginx',
    versionArguments: ['-v'],
    versionPattern: /^nginx version: nginx\/(\S+)/,
    image: {
      arguments: ['nginx', '-g', 'daemon off;'],
      files: nginxFiles,
      links: [
        { path: '/var/log/nginx/access.log', target: '/dev/stdout' },
        { path: '/var/log/nginx/error.log', target: '/dev/stderr' },
      ],
      copies: [
        ...['fastcgi_params', 'mime.types', 'scgi_params', 'uwsgi_params'].map((name) => `/etc/nginx/${name}`),
        '/usr/share/nginx/html',
      ],
      // It ends when what it was asked is answered; at SIGTERM it would hang up at once.
      stopSignal: 'SIGQUIT',
    },
  },
];
