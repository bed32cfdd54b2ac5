# The service, built from this folder: docker build -t keyrail .
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm run setup && npm run build
# The command with what it needs to run, and nothing of the workspace. The binary of the embedded node (43 MB) is an optional dependency: only
# keyrail dev needs it.
RUN node scripts/copyCliFiles.ts && npm run pnpm -- --filter keyrail deploy --prod --no-optional --legacy /app

FROM node:24.21.0-bookworm-slim
# Returns freed memory to the system. Without it, glibc keeps 60 to 100 MB, mostly from hashing passwords.
ENV MALLOC_TRIM_THRESHOLD_=131072
ENV NODE_ENV=production
COPY --from=build /app /app
# The SQLite database, where there is no DATABASE_URL.
RUN install -d -o node -g node -m 700 /var/lib/keyrail
USER node
VOLUME /var/lib/keyrail
EXPOSE 8080
# Whether the process is alive, where the config says that it listens. Whether it is ready (/readyz) is a question for load balancers: a restart
# does not bring dead nodes back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "/app/dist/main.js", "health", "--config", "/etc/keyrail/keyrail.config.json"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/keyrail/keyrail.config.json"]
