import type { LayerFile } from '../sandbox/root-file-system.js';
import type { DebianProgram } from './debian-program.js';

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

/** nginx, as its official image is laid out: pages in /usr/share/nginx/html, servers in /etc/nginx/conf.d, logs to the container's outputs. */
export const nginxProgram: DebianProgram = {
  images: ['nginx'],
  path: '/usr/sbin/nginx',
  package: 'nginx-light',
  name: 'nginx',
  version: { arguments: ['-v'], pattern: /^nginx version: nginx\/(\S+)/ },
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
};
