import { Link, useRouter } from '@tanstack/react-router'
import { Failed } from '../parts/Loaded.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { Alone } from './Alone.tsx'

/** Page not found. */
export function Nowhere() {
  return (
    <Alone>
      <div className="stack">
        <PageHead title="Page not found" lead="It may have been deleted, or the URL is wrong." />
        <Link to="/apps" className="button primary">
          To your apps
        </Link>
      </div>
    </Alone>
  )
}

/** A page that could not be shown. */
export function Broken({ error }: { readonly error: unknown }) {
  const router = useRouter()
  return (
    <Alone>
      <PageHead title="This page could not be shown" />
      <Failed error={error} retry={() => void router.invalidate()} />
    </Alone>
  )
}
