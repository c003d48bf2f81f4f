// A whole dashboard on one page, at the places that its JSON says. What went wrong is left in window.mallometer for
// picture.mjs to read: a fault for each panel, and how many panels there are and are done.
import '@grafana/react-data-grid/lib/styles.css';
import 'uplot/dist/uPlot.min.css';
import { createTheme, ThemeContext } from '@grafana/data';
import { GlobalStyles } from '@grafana/ui';
import i18next from 'i18next';
import { createRoot } from 'react-dom/client';
import { Boundary, Panel } from './panel';
import { firstChoice, type Variables } from './prometheus';
import { registerStandards } from './registries';

const COLUMNS = 24;
const ROW_HEIGHT = 38;
const GAP = 8;
const POINTS = 180;

type Report = { panels: number; done: number; height: number; faults: string[] };
const report: Report = { panels: 0, done: 0, height: 0, faults: [] };
(window as any).mallometer = report;
(window as any).__grafana_public_path__ = '/public/';

function failed(panel: string) {
  return (error: unknown) => report.faults.push(`${panel}: ${error instanceof Error ? error.message : error}`);
}

/** "All" for every query variable that has it, the first choice of the others, unless the address says which. */
async function variablesOf(dashboard: any, given: URLSearchParams): Promise<Variables> {
  const [seconds, interval] = [Number(given.get('seconds')), Number(given.get('interval'))];
  const variables: Variables = {
    datasource: 'prometheus',
    __rate_interval: `${4 * interval}s`,
    __interval: `${interval}s`,
    __range: `${seconds}s`,
  };
  for (const variable of dashboard.templating.list) {
    if (given.has(`var-${variable.name}`)) {
      variables[variable.name] = given.get(`var-${variable.name}`)!;
    } else if (variable.type === 'query') {
      variables[variable.name] = variable.multi
        ? (variable.allValue ?? '.*')
        : await firstChoice(variable, variables, Number(given.get('to')));
    }
  }
  return variables;
}

/** The panels at their places; of closed rows only the headings, unless all are wanted. */
function placed(dashboard: any, all: boolean): any[] {
  const shown: any[] = [];
  // The rows by which later panels move up, because rows above them are closed.
  let gap = 0;
  let bottom = 0;
  for (const panel of dashboard.panels) {
    if (panel.type === 'row') {
      gap = panel.gridPos.y - bottom;
    }
    for (const one of panel.collapsed && all ? [panel, ...panel.panels] : [panel]) {
      const gridPos = { ...one.gridPos, y: one.gridPos.y - gap };
      bottom = Math.max(bottom, gridPos.y + gridPos.h);
      shown.push({ ...one, gridPos });
    }
  }
  return shown;
}

function Dashboard({ panels, variables, given, theme }: { panels: any[]; variables: Variables; given: URLSearchParams; theme: any }) {
  const seconds = Number(given.get('seconds'));
  const to = Number(given.get('to'));
  const interval = Number(given.get('interval'));
  const range = { from: to - seconds, to, step: Math.max(interval, Math.ceil(seconds / POINTS)) };
  const column = (window.innerWidth - 2 * GAP) / COLUMNS;
  return (
    <div style={{ position: 'relative', margin: GAP }}>
      {panels.map((panel: any, index: number) => {
        const { x, y, w, h } = panel.gridPos;
        const place = { position: 'absolute' as const, left: x * column, top: y * ROW_HEIGHT };
        return panel.type === 'row' ? (
          <h5 key={index} style={{ ...place, marginTop: 8 }}>
            {panel.title}
            {panel.collapsed && given.get('closed') === 'true' ? ` (${panel.panels.length} panels)` : ''}
          </h5>
        ) : (
          <div key={index} style={place}>
            <Boundary failed={failed(panel.title)}>
              <Panel
                panel={panel}
                variables={variables}
                range={range}
                theme={theme}
                absent={given.get('absent') ?? ''}
                width={w * column - GAP}
                height={h * ROW_HEIGHT - GAP}
                failed={failed(panel.title)}
                done={() => report.done++}
              />
            </Boundary>
          </div>
        );
      })}
    </div>
  );
}

async function start() {
  await i18next.init({ lng: 'en', resources: {} });
  registerStandards();
  const given = new URLSearchParams(location.search);
  const theme = createTheme({ colors: { mode: given.get('theme') === 'dark' ? 'dark' : 'light' } });
  const dashboard = await (await fetch('/dashboard.json')).json();
  const panels = placed(dashboard, given.get('closed') !== 'true');
  const variables = await variablesOf(dashboard, given);
  report.panels = panels.filter((panel) => panel.type !== 'row').length;
  report.height = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)) * ROW_HEIGHT + 2 * GAP + 48;
  document.body.style.background = theme.colors.background.canvas;
  createRoot(document.getElementById('root')!).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <h3 style={{ margin: GAP }}>
        {dashboard.title}
        {variables.instance && variables.instance !== '.*' ? `: ${variables.instance}` : ''}
      </h3>
      <Dashboard panels={panels} variables={variables} given={given} theme={theme} />
    </ThemeContext.Provider>,
  );
}

start().catch(failed('page'));
