# The service, built from this folder: docker build -t keyrail .
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm run setup && npm run build
# The command with what it needs to run, and nothing of the workspace.
RUN node packages/cli/copyDashboard.mjs && npm run pnpm -- --filter keyrail deploy --prod --legacy /app

FROM node:24.21.0-bookworm-slim
# How long it still accepts calls after SIGTERM while /readyz reports 503, so that a load balancer can notice.
ENV NODE_ENV=production KEYRAIL_DRAIN_DELAY_MS=5000
COPY --from=build /app /app
# The SQLite database, where there is no DATABASE_URL.
RUN install -d -o node -g node -m 700 /var/lib/keyrail
USER node
VOLUME /var/lib/keyrail
EXPOSE 8080
HEALTHCHECK --interval=10s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/keyrail/keyrail.config.json"]
