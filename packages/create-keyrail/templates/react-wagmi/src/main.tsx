import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'

// The config needs the endpoint, so it is imported only if there is one.
const Root = lazy(() => import('./Root.tsx'))

const names = ['VITE_KEYRAIL_BASE_URL', 'VITE_KEYRAIL_API_KEY', 'VITE_KEYRAIL_CHAIN_ID']
const missing = names.filter((name) => !import.meta.env[name])

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    {missing.length > 0 ? (
      <p role="alert">
        Set {missing.join(', ')} in the file .env.local of this project, and start <code>npm run dev</code> again.
      </p>
    ) : (
      <Suspense>
        <Root />
      </Suspense>
    )}
  </StrictMode>,
)
