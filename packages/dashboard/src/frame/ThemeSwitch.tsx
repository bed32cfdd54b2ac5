import { chooseTheme, themes, useTheme } from '../control/theme.ts'
import { Segments } from '../parts/Segments.tsx'

/** Chooses the colors: the system's, light or dark. */
export function ThemeSwitch() {
  return <Segments legend="Colors" name="theme" value={useTheme()} onChange={chooseTheme} options={themes} />
}
