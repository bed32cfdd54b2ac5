// Makes the calls in a page of Electron: electron startElectron.mjs http://127.0.0.1:… '{ "baseUrl": … }'. The last line of its output is the report.
import { app, BrowserWindow } from 'electron'

const [url, given] = process.argv.slice(-2)
await app.whenReady()
const window = new BrowserWindow({ show: false })
await window.loadURL(url)
const report = await window.webContents.executeJavaScript(`runCalls(${given})`)
console.log(`\n${JSON.stringify(report)}`)
app.exit()
