import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { getChosenAccount, noteTeam } from './control/chosenAccount.ts'
import { isControlFailure } from './control/controlFailure.ts'
import { whenSessionIsLost } from './control/lostSession.ts'
import { takePreloads } from './control/preloaded.ts'
import { changeSession, onSessionChange } from './control/sessionChange.ts'
import { createPages } from './createPages.tsx'
import { DialogsProvider } from './parts/DialogsProvider.tsx'
import './styles/font.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/layout.css'
import './styles/controls.css'
import './styles/status.css'
import './styles/tables.css'
import './styles/values.css'
import './styles/panels.css'
import './styles/charts.css'
import './styles/sidePanel.css'
import './styles/narrow.css'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A service on this machine responds without a network too.
      networkMode: 'always',
      staleTime: 1_000,
      // The control API would reject a retry too.
      retry: (failures, error) =>
        failures < 2 &&
        isControlFailure(error) &&
        // The banner's check retries these when the service responds again.
        error.code !== 'timeout' &&
        (error.status === 0 || error.status >= 500),
      retryDelay: 400,
    },
  },
})

noteTeam()
if (getChosenAccount() === undefined) takePreloads()
const pages = createPages(queries)

whenSessionIsLost(() => {
  const { pathname, href } = pages.state.location
  if (/^\/(?:log-in|sign-up|reset-password)\b/.test(pathname)) return
  changeSession(queries, { notifyTabs: false })
  void pages.navigate({ to: '/log-in', search: { back: href, ended: true }, replace: true })
})
onSessionChange(() => {
  changeSession(queries, { notifyTabs: false })
  void pages.invalidate()
})

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <DialogsProvider>
        <RouterProvider router={pages} />
      </DialogsProvider>
    </QueryClientProvider>
  </StrictMode>,
)
