import type { LayerFile } from '../sandbox/root-file-system.js';
import type { DebianProgram } from './debian-program.js';

/** What Debian's scripts read, zkServer.sh and zkCli.sh: with the directories of the official image, and the log on the container's output. */
const scriptEnvironment: LayerFile = {
  path: '/usr/local/bin/zkEnv.sh',
  content: `ZOOCFGDIR=\${ZOO_CONF_DIR:-/conf}
ZOOCFG=$ZOOCFGDIR/zoo.cfg
ZOO_LOG_DIR=\${ZOO_LOG_DIR:-/logs}
JMXLOCALONLY=\${JMXLOCALONLY:-true}
JAVA=/usr/bin/java
SERVER_JVMFLAGS="-Xmx\${ZK_SERVER_HEAP:-1000}m $SERVER_JVMFLAGS"
CLIENT_JVMFLAGS="-Xmx\${ZK_CLIENT_HEAP:-256}m $CLIENT_JVMFLAGS"
CLASSPATH=$ZOOCFGDIR:/usr/local/share/zookeeper:/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-log4j12.jar:/usr/share/java/log4j-1.2.jar
`,
};

const logging: LayerFile = {
  path: '/usr/local/share/zookeeper/log4j.properties',
  content: `log4j.rootLogger=INFO, CONSOLE
log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender
log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout
log4j.appender.CONSOLE.layout.ConversionPattern=%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n
`,
};

/**
 * Makes zoo.cfg of the variables that the official image documents, unless there is one, and myid, unless the data directory
 * has one: a server that comes back keeps its number.
 */
const entrypoint: LayerFile = {
  path: '/docker-entrypoint.sh',
  mode: 0o755,
  content: `#!/bin/bash
set -e
mkdir -p "$ZOO_CONF_DIR" "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR" "$ZOO_LOG_DIR"
if [ ! -f "$ZOO_CONF_DIR/zoo.cfg" ]; then
  {
    echo "dataDir=$ZOO_DATA_DIR"
    echo "dataLogDir=$ZOO_DATA_LOG_DIR"
    echo "tickTime=$ZOO_TICK_TIME"
    echo "initLimit=$ZOO_INIT_LIMIT"
    echo "syncLimit=$ZOO_SYNC_LIMIT"
    echo "autopurge.snapRetainCount=$ZOO_AUTOPURGE_SNAPRETAINCOUNT"
    echo "autopurge.purgeInterval=$ZOO_AUTOPURGE_PURGEINTERVAL"
    echo "maxClientCnxns=$ZOO_MAX_CLIENT_CNXNS"
    echo "standaloneEnabled=$ZOO_STANDALONE_ENABLED"
    echo "admin.enableServer=$ZOO_ADMINSERVER_ENABLED"
    for server in \${ZOO_SERVERS:-server.1=localhost:2888:3888;2181}; do echo "$server"; done
    if [ -n "$ZOO_4LW_COMMANDS_WHITELIST" ]; then echo "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"; fi
    for line in $ZOO_CFG_EXTRA; do echo "$line"; done
  } >"$ZOO_CONF_DIR/zoo.cfg"
fi
if [ ! -f "$ZOO_DATA_DIR/myid" ]; then echo "\${ZOO_MY_ID:-1}" >"$ZOO_DATA_DIR/myid"; fi
exec "$@"
`,
};

/** ZooKeeper, as the official image is used: /conf/zoo.cfg, /data, and ZOO_ variables. */
export const zookeeperProgram: DebianProgram = {
  images: ['zookeeper'],
  path: '/usr/share/zookeeper/bin/zkServer.sh',
  package: 'zookeeper',
  name: 'zookeeper',
  // The server would start a virtual machine to say it.
  version: {
    program: '/usr/bin/dpkg-query',
    arguments: ['--show', 'zookeeper'],
    pattern: /^zookeeper\s+(\d+\.\d+\.\d+)/,
  },
  image: {
    entrypoint: ['/docker-entrypoint.sh'],
    arguments: ['zkServer.sh', 'start-foreground'],
    files: [scriptEnvironment, logging, entrypoint],
    links: ['zkServer.sh', 'zkCli.sh'].map((name) => ({
      path: `/usr/local/bin/${name}`,
      target: `/usr/share/zookeeper/bin/${name}`,
    })),
    environment: {
      ZOO_CONF_DIR: '/conf',
      ZOO_DATA_DIR: '/data',
      ZOO_DATA_LOG_DIR: '/datalog',
      ZOO_LOG_DIR: '/logs',
      ZOO_TICK_TIME: '2000',
      ZOO_INIT_LIMIT: '5',
      ZOO_SYNC_LIMIT: '2',
      ZOO_AUTOPURGE_PURGEINTERVAL: '0',
      ZOO_AUTOPURGE_SNAPRETAINCOUNT: '3',
      ZOO_MAX_CLIENT_CNXNS: '60',
      ZOO_STANDALONE_ENABLED: 'true',
      ZOO_ADMINSERVER_ENABLED: 'true',
    },
  },
};
