export type {
  AccessTokenView,
  AccountView,
  ActingAccountView,
  ActivityItem,
  ActivityView,
  AlertDeliveryView,
  AlertRulesView,
  AlertsView,
  AllowEntryView,
  AllowListPreviewView,
  AllowTypeName,
  ApiKeyView,
  AppView,
  AuditEntryView,
  ControlApi,
  DeploymentView,
  FactorOptionsView,
  FactorView,
  InstanceView,
  InviteView,
  JwtKeyView,
  JwtTestView,
  KeyState,
  KeyTrafficView,
  MemberInviteView,
  MemberRole,
  MemberView,
  MetricsQuery,
  MetricsRange,
  MetricsView,
  NetworkStatusView,
  NetworksView,
  NewFactorView,
  NewWebhookView,
  NodeCounts,
  OpenSessionView,
  OriginsView,
  OverviewView,
  OwnLimits,
  ProblemView,
  RequestDetailsView,
  RequestEntryView,
  RequestsCsvQuery,
  RequestsQuery,
  ServiceName,
  SessionView,
  TeamView,
  TokenScope,
  TopUsageView,
  TrafficView,
  UpstreamView,
  UsageView,
  UseCase,
  UserView,
  WebhookTestView,
  WebhookView,
} from './control/contract/controlApi.d.ts'
export type { ApiErrorView } from './control/contract/apiError.ts'
export { getApiKeyUrl, getAppUrl } from './proxy/http/rpcUrls.ts'
export { createApiKey, parseApiKey } from './lib/secrets/apiKey.ts'
export { findKnownNetwork, listKnownNetworks } from './lib/findKnownNetwork.ts'
export { backUp, restore } from './service/backUp.ts'
export { checkNodes, checkVendors } from './service/checkNodes.ts'
export type { NodeCheck } from './service/checkNodes.ts'
export { checkCacheRedis, checkRedis } from './service/checkRedis.ts'
export { checkServiceFile, checkStoredKeys } from './service/checkServiceFile.ts'
export { isBackupError } from './service/backupError.ts'
export { isConfigError } from './service/configError.ts'
export type { ConfigFault } from './service/configError.ts'
export { createService } from './service/createService.ts'
export type { CloseOptions, Service } from './service/service.ts'
export { openCacheTools } from './service/openCacheTools.ts'
export type { CacheTools } from './service/openCacheTools.ts'
export type { WarmedLogs, WarmOptions } from './service/warmCache.ts'
export { getDatabaseFile, openOperatorTools } from './service/openOperatorTools.ts'
export type { OperatorTools } from './service/openOperatorTools.ts'
export { parseServiceConfig } from './service/parseServiceConfig.ts'
export { readServiceConfig } from './service/readServiceConfig.ts'
export { readServerSecrets } from './service/readServerSecrets.ts'
export type { RunningConfig } from './service/runningConfig.ts'
export { configJsonSchema } from './service/configJsonSchema.ts'
export { startFromConfig, startFromFile, tuneHeap } from './service/startFromFile.ts'
export { isStorageError } from './errors/storageError.ts'
export { isAccountError } from './control/account/accountError.ts'
export { findEmailProblems } from './control/account/findEmailProblems.ts'
