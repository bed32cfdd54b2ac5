import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { backTo } from './control/backTo.ts'
import { claimDrafts } from './control/drafts.ts'
import { isControlFailure } from './control/controlFailure.ts'
import { appsQuery, sessionQuery } from './control/queries.ts'
import { readAuditSearch, readMetricsSearch, readRequestsSearch, readSearch } from './control/searchParams.ts'
import { Frame } from './frame/Frame.tsx'
import { Broken, Nowhere } from './frame/Nowhere.tsx'
import { LogIn } from './pages/LogIn.tsx'

const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: Nowhere,
  errorComponent: Broken,
})

const logIn = createRoute({
  getParentRoute: () => root,
  path: '/log-in',
  validateSearch: ({ back, ended }: Record<string, unknown>): { back?: string; ended?: boolean } => ({
    ...(typeof back === 'string' && { back }),
    ...(ended === true && { ended }),
  }),
  component: LogIn,
})
const signOn = createRoute({
  getParentRoute: () => root,
  path: '/log-in/single-sign-on',
  component: lazyRouteComponent(() => import('./pages/SignOn.tsx'), 'SignOn'),
})
const logInLink = createRoute({
  getParentRoute: () => root,
  path: '/log-in/link',
  component: lazyRouteComponent(() => import('./pages/LogInLink.tsx'), 'LogInLink'),
})
const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/log-in/second-factor',
  validateSearch: ({ back }: Record<string, unknown>): { back?: string } => (typeof back === 'string' ? { back } : {}),
  component: lazyRouteComponent(() => import('./pages/SecondFactor.tsx'), 'SecondFactor'),
})
const addSecondFactor = createRoute({
  getParentRoute: () => root,
  path: '/second-factor',
  component: lazyRouteComponent(() => import('./pages/AddSecondFactor.tsx'), 'AddSecondFactor'),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/SignUp.tsx'), 'SignUp'),
})
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/ResetPassword.tsx'), 'ResetPassword'),
})

const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/ForgotPassword.tsx'), 'ForgotPassword'),
})
const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/VerifyEmail.tsx'), 'VerifyEmail'),
})

const joinTeam = createRoute({
  getParentRoute: () => root,
  path: '/join',
  component: lazyRouteComponent(() => import('./pages/JoinTeam.tsx'), 'JoinTeam'),
})

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    try {
      const { account, secondFactorMissing } = await context.queries.ensureQueryData(sessionQuery)
      claimDrafts(account.id)
      if (secondFactorMissing) redirect({ to: '/second-factor', throw: true })
    } catch (error) {
      if (!isControlFailure(error, 'not_logged_in')) throw error
      const back = location.pathname === '/' ? undefined : backTo(location.href)
      redirect({ to: '/log-in', search: back === undefined ? {} : { back }, throw: true })
    }
  },
  component: Frame,
  errorComponent: Broken,
})

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { pages } = await context.queries.fetchInfiniteQuery(appsQuery(''))
    const { actingFor } = await context.queries.ensureQueryData(sessionQuery)
    const isFirst = pages[0]?.total === 0 && actingFor.scopes.includes('apps:write')
    redirect({ to: isFirst ? '/apps/new' : '/apps', replace: true, throw: true })
  },
})
const apps = createRoute({
  getParentRoute: () => inside,
  path: '/apps',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./pages/Apps.tsx'), 'Apps'),
})
const newApp = createRoute({
  getParentRoute: () => inside,
  path: '/apps/new',
  component: lazyRouteComponent(() => import('./pages/NewApp.tsx'), 'NewApp'),
})
const app = createRoute({
  getParentRoute: () => inside,
  path: '/apps/$appId',
  component: lazyRouteComponent(() => import('./pages/app/AppFrame.tsx'), 'AppFrame'),
})
const appHome = createRoute({
  getParentRoute: () => app,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/apps/$appId/setup', params, replace: true, throw: true })
  },
})
const appSetup = createRoute({
  getParentRoute: () => app,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/app/AppSetup.tsx'), 'AppSetup'),
})
const appMetrics = createRoute({
  getParentRoute: () => app,
  path: '/metrics',
  validateSearch: readMetricsSearch,
  component: lazyRouteComponent(() => import('./pages/app/AppMetrics.tsx'), 'AppMetrics'),
})
const appRequests = createRoute({
  getParentRoute: () => app,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: lazyRouteComponent(() => import('./pages/app/AppRequests.tsx'), 'AppRequests'),
})
const appNetworks = createRoute({
  getParentRoute: () => app,
  path: '/networks',
  component: lazyRouteComponent(() => import('./pages/app/AppNetworks.tsx'), 'AppNetworks'),
})
const appSettings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/app/AppSettings.tsx'), 'AppSettings'),
})
const appSettingsHome = createRoute({
  getParentRoute: () => appSettings,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/apps/$appId/settings/advanced', params, replace: true, throw: true })
  },
})
const appAdvanced = createRoute({
  getParentRoute: () => appSettings,
  path: '/advanced',
  component: lazyRouteComponent(() => import('./pages/app/AppAdvanced.tsx'), 'AppAdvanced'),
})
const appAllowList = createRoute({
  getParentRoute: () => appSettings,
  path: '/allow-list',
  component: lazyRouteComponent(() => import('./pages/app/AppAllowList.tsx'), 'AppAllowList'),
})
const appJwtKeys = createRoute({
  getParentRoute: () => appSettings,
  path: '/jwt-keys',
  component: lazyRouteComponent(() => import('./pages/app/AppJwtKeys.tsx'), 'AppJwtKeys'),
})
const appDelete = createRoute({
  getParentRoute: () => appSettings,
  path: '/delete',
  component: lazyRouteComponent(() => import('./pages/app/AppDelete.tsx'), 'AppDelete'),
})

const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/Keys.tsx'), 'Keys'),
})
const newKey = createRoute({
  getParentRoute: () => inside,
  path: '/keys/new',
  component: lazyRouteComponent(() => import('./pages/NewKey.tsx'), 'NewKey'),
})
const key = createRoute({
  getParentRoute: () => inside,
  path: '/keys/$keyId',
  component: lazyRouteComponent(() => import('./pages/key/KeyFrame.tsx'), 'KeyFrame'),
})
const keyHome = createRoute({
  getParentRoute: () => key,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/keys/$keyId/setup', params, replace: true, throw: true })
  },
})
const keySetup = createRoute({
  getParentRoute: () => key,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/key/KeySetup.tsx'), 'KeySetup'),
})
const keyMetrics = createRoute({
  getParentRoute: () => key,
  path: '/metrics',
  validateSearch: readMetricsSearch,
  component: lazyRouteComponent(() => import('./pages/key/KeyMetrics.tsx'), 'KeyMetrics'),
})
const keyRequests = createRoute({
  getParentRoute: () => key,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: lazyRouteComponent(() => import('./pages/key/KeyRequests.tsx'), 'KeyRequests'),
})
const keySettings = createRoute({
  getParentRoute: () => key,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/key/KeySettings.tsx'), 'KeySettings'),
})

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/AccountFrame.tsx'), 'AccountFrame'),
})
const accountHome = createRoute({
  getParentRoute: () => account,
  path: '/',
  validateSearch: readMetricsSearch,
  component: lazyRouteComponent(() => import('./pages/account/AccountUsage.tsx'), 'AccountUsage'),
})
const accountTokens = createRoute({
  getParentRoute: () => account,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./pages/account/AccountTokens.tsx'), 'AccountTokens'),
})
const accountAudit = createRoute({
  getParentRoute: () => account,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./pages/account/AccountAudit.tsx'), 'AccountAudit'),
})
const accountAlerts = createRoute({
  getParentRoute: () => account,
  path: '/alerts',
  component: lazyRouteComponent(() => import('./pages/account/AccountAlerts.tsx'), 'AccountAlerts'),
})
const accountMembers = createRoute({
  getParentRoute: () => account,
  path: '/members',
  component: lazyRouteComponent(() => import('./pages/account/AccountMembers.tsx'), 'AccountMembers'),
})
const accountSecurity = createRoute({
  getParentRoute: () => account,
  path: '/security',
  component: lazyRouteComponent(() => import('./pages/account/AccountSecurity.tsx'), 'AccountSecurity'),
})

const operator = createRoute({
  getParentRoute: () => inside,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorFrame.tsx'), 'OperatorFrame'),
})
const operatorHome = createRoute({
  getParentRoute: () => operator,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorOverview.tsx'), 'OperatorOverview'),
})
const operatorUsers = createRoute({
  getParentRoute: () => operator,
  path: '/users',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./pages/operator/OperatorUsers.tsx'), 'OperatorUsers'),
})
const operatorUser = createRoute({
  getParentRoute: () => operator,
  path: '/users/$userId',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorUser.tsx'), 'OperatorUser'),
})
const operatorTeams = createRoute({
  getParentRoute: () => operator,
  path: '/teams',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorTeams.tsx'), 'OperatorTeams'),
})
const operatorTeam = createRoute({
  getParentRoute: () => operator,
  path: '/teams/$accountId',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorTeam.tsx'), 'OperatorTeam'),
})
const operatorUpstreams = createRoute({
  getParentRoute: () => operator,
  path: '/upstreams',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorUpstreams.tsx'), 'OperatorUpstreams'),
})
const operatorInvites = createRoute({
  getParentRoute: () => operator,
  path: '/invites',
  component: lazyRouteComponent(() => import('./pages/operator/OperatorInvites.tsx'), 'OperatorInvites'),
})
const operatorAudit = createRoute({
  getParentRoute: () => operator,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./pages/operator/OperatorAudit.tsx'), 'OperatorAudit'),
})

const tree = root.addChildren([
  logIn,
  signOn,
  logInLink,
  secondFactor,
  addSecondFactor,
  signUp,
  reset,
  forgot,
  verifyEmail,
  joinTeam,
  inside.addChildren([
    home,
    apps,
    newApp,
    app.addChildren([
      appHome,
      appSetup,
      appMetrics,
      appRequests,
      appNetworks,
      appSettings.addChildren([appSettingsHome, appAdvanced, appAllowList, appJwtKeys, appDelete]),
    ]),
    keys,
    newKey,
    key.addChildren([keyHome, keySetup, keyMetrics, keyRequests, keySettings]),
    account.addChildren([accountHome, accountMembers, accountAlerts, accountTokens, accountAudit, accountSecurity]),
    operator.addChildren([
      operatorHome,
      operatorUsers,
      operatorUser,
      operatorTeams,
      operatorTeam,
      operatorUpstreams,
      operatorInvites,
      operatorAudit,
    ]),
  ]),
])

/** Creates the routes of the pages, with their redirects. */
export function createPages(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: false,
    // The page of another record is mounted again: it keeps no text and no open dialog.
    defaultRemountDeps: ({ params }) => params,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
