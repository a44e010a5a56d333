# The server alone. A project, with its own node_modules and LangGraph, is mounted at /app or copied there by an image
# that begins with `FROM agent-server`. Data is in /data. For the official command line there is
# deploy/langgraph/Dockerfile.

# What it builds is the same for each architecture.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY studio/package.json studio/
# No package here needs its install script: `node` only repeats this image's, and the others bring their binaries. Nothing
# is compiled, so the image needs neither Python nor a compiler.
RUN npm ci --ignore-scripts
COPY build.ts tsconfig.json tsconfig.build.json ./
COPY src src
COPY studio studio
RUN npm run build

FROM node:24-slim AS packages
WORKDIR /build
COPY package.json package-lock.json ./
COPY studio/package.json studio/
# Without peers: LangGraph is the project's, and two copies in one run could not exchange commands or interrupts.
# The build has its own better-sqlite3; npm installs one more for an optional peer.
RUN npm ci --ignore-scripts --omit=dev --omit=peer && rm -rf node_modules/better-sqlite3 node_modules/node-addon-api

FROM node:24-slim
COPY --from=packages /build/node_modules /opt/agent-server/node_modules
COPY --from=build /build/dist /opt/agent-server/dist
COPY package.json LICENSE /opt/agent-server/
COPY bin /opt/agent-server/bin
# The guides at /docs/guides, which the runbook links of alerts lead to.
COPY docs /opt/agent-server/docs
RUN ln -s /opt/agent-server/bin/agent-server.mjs /usr/local/bin/agent-server \
 && mkdir -p /app /data && chown node:node /app /data
LABEL org.opencontainers.image.title="Agent Server" \
  org.opencontainers.image.description="A server for LangGraph.js agents" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="1.0.0-rc.1"
USER node
WORKDIR /app
VOLUME /data
# Other machines reach a container, so the server starts only with AGENT_SERVER_API_KEYS.
ENV NODE_ENV=production LANGGRAPH_SERVER_HOST=0.0.0.0 PORT=8123 AGENT_SERVER_DATA_DIR=/data
# A user without an entry in /etc/passwd has no home otherwise, and LangSmith's client, which LangChain loads, needs one.
ENV HOME=/data
# V8 compiles on threads that each keep memory otherwise: 12 MB at rest, 25 MB after load.
ENV MALLOC_ARENA_MAX=2
EXPOSE 8123
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD node -e "fetch('http://127.0.0.1:' + \
  (process.env.LANGGRAPH_SERVER_PORT || process.env.PORT) + '/ok').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
CMD ["agent-server", "start"]
