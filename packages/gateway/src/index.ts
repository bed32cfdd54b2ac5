export type { ControlApi } from './control/contract/controlApi.ts'
export type { AccessTokenView, TokenScope } from './control/contract/accessToken.ts'
export type { ActivityItem, ActivityView, KeyTrafficView, TrafficView } from './control/contract/activity.ts'
export type { AccountView, SessionView } from './control/contract/account.ts'
export type { AlertDeliveryView, AlertsView, NewWebhookView, WebhookView } from './control/contract/alerts.ts'
export type { AllowEntryView, AllowTypeName } from './control/contract/allowEntry.ts'
export type { ApiKeyView } from './control/contract/apiKey.ts'
export type { AppView } from './control/contract/app.ts'
export type { AuditEntryView } from './control/contract/auditEntry.ts'
export type {
  ChainView,
  DeploymentView,
  NetworkView,
  NetworksView,
  ServiceName,
  UseCase,
} from './control/contract/deployment.ts'
export type { NetworkStatusesView, NetworkStatusView, NodeCounts } from './control/contract/networkStatus.ts'
export type { JwtKeyView, JwtTestView } from './control/contract/jwtKey.ts'
export type { KeyState } from './control/contract/keyState.ts'
export type { LimitsView, OwnLimits } from './control/contract/limits.ts'
export type { MetricsQuery, MetricsRange, MetricsView } from './control/contract/metrics.ts'
export type { InviteView, OverviewView, UpstreamView, UserView } from './control/contract/operator.ts'
export type {
  RequestDetailsView,
  RequestEntryView,
  RequestsCsvQuery,
  RequestsQuery,
} from './control/contract/requestLog.ts'
export type { ApiErrorView } from './control/contract/apiError.ts'
export type { UsageView } from './control/contract/usage.ts'
export { createGateway } from './proxy/createGateway.ts'
export type { Gateway } from './proxy/gateway.ts'
export type { UpstreamState, UpstreamStatus } from './proxy/upstream/groupMember.ts'
export { defaultLimits } from './proxy/gatewayOptions.ts'
export type {
  AttemptTrace,
  RequestTrace,
  RequestTracer,
  TracedAttempt,
  TracedRequest,
  TracedResult,
} from './proxy/requestTracer.ts'
export type { GatewayLimits, GatewayOptions, NetworkOptions, UpstreamOptions } from './proxy/gatewayOptions.ts'
export type { MethodWeights } from './proxy/method/weights.ts'
export { getApiKeyUrl, getAppUrl } from './proxy/http/rpcUrls.ts'
export { compileAllowList } from './auth/allowList/compileAllowList.ts'
export type { AllowList } from './auth/allowList/compileAllowList.ts'
export type { AllowListEntries } from './auth/allowList/allowListEntries.ts'
export { compileJwtPolicy } from './auth/jwt/jwtPolicy.ts'
export type { JwtPolicy, JwtSettings } from './auth/jwt/jwtPolicy.ts'
export { createRateLimiter } from './usage/rateLimit/createRateLimiter.ts'
export type { RateLimiter, RateLimiterOptions } from './usage/rateLimit/createRateLimiter.ts'
export type { RateDecision, RateLimits } from './usage/rateLimit/rateDecision.ts'
export { createLocalLimits } from './usage/limits/createLocalLimits.ts'
export type { LocalLimitsOptions } from './usage/limits/createLocalLimits.ts'
export type { RecordedError, RecordedRequest, RequestLog } from './usage/requestLog/requestLog.ts'
export type { Meter, Outcome } from './usage/metering/meter.ts'
export type {
  LimitGrant,
  LimitRequest,
  LimitsEvent,
  QuotaAccount,
  QuotaGrant,
  QuotaUsage,
  QuotaWindow,
  UsageLimits,
} from './usage/limits/usageLimits.ts'
export { createApiKey, isApiKey, parseApiKey } from './lib/secrets/apiKey.ts'
export type { ApiKeyKind } from './lib/secrets/apiKey.ts'
export { createMemoryKeyStore } from './auth/key/createMemoryKeyStore.ts'
export type { MemoryKeyStore } from './auth/key/createMemoryKeyStore.ts'
export { hashApiKey } from './lib/secrets/hashApiKey.ts'
export type { FoundKey, KeyLimits, KeyRecord, KeyStore } from './auth/key/keyStore.ts'
export type { LogEntry } from './proxy/log.ts'
export { findKnownNetwork, listKnownNetworks } from './lib/findKnownNetwork.ts'
export type { NamedNetwork } from './lib/findKnownNetwork.ts'
export type { KnownNetwork } from './lib/knownNetworks.ts'
export { isNetworkName } from './lib/network.ts'
export type { Network, NetworkDetails } from './lib/network.ts'
export type { RejectionReason } from './errors/rejection.ts'
export { backUp, restore } from './service/backUp.ts'
export { checkServiceFile } from './service/checkServiceFile.ts'
export { isBackupError } from './service/backupError.ts'
export { isConfigError } from './service/configError.ts'
export type { ConfigError, ConfigFault } from './service/configError.ts'
export { createService } from './service/createService.ts'
export type { CloseOptions, Listening, Service, ServiceOptions } from './service/service.ts'
export { getDatabaseFile, openOperatorTools } from './service/openOperatorTools.ts'
export type { OperatorTools } from './service/openOperatorTools.ts'
export { parseServiceConfig } from './service/parseServiceConfig.ts'
export type { ProvidedAccount } from './service/provideAccount.ts'
export { readServerSecrets } from './service/readServerSecrets.ts'
export type { ServerSecrets } from './service/readServerSecrets.ts'
export { readServiceConfig } from './service/readServiceConfig.ts'
export type { SecretRotation } from './service/rotateSecret.ts'
export type { RunningConfig } from './service/runningConfig.ts'
export { configJsonSchema } from './service/configJsonSchema.ts'
export type { ServiceConfig, ServiceConfigInput } from './service/serviceConfig.ts'
export type { LogStream, ServiceLogEntry } from './service/serviceLog.ts'
export { startFromFile, tuneHeap } from './service/startFromFile.ts'
export type { RunningService, StartOptions } from './service/startFromFile.ts'
export { isStorageError } from './errors/storageError.ts'
export { isAccountError } from './control/account/accountError.ts'
