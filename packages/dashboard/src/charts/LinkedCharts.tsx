import { useState } from 'react'
import type { ReactNode } from 'react'
import { LinkedHover } from './linkedHover.ts'

/** Links the hover of the charts in it. Moving the pointer renders only the charts again. */
export function LinkedCharts({ children }: { readonly children: ReactNode }) {
  const hover = useState<number>()
  return <LinkedHover value={hover}>{children}</LinkedHover>
}
