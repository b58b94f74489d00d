#!/usr/bin/env python3
"""The pages that Throng makes, in a real browser. Tests in the form of program.py.

The server's page must show what the API says, change it, draw it, measure it and ask for a token. A
report of each command must draw what its document says, with and without scripts, also when names are markup, and run
no other script. It and the page of results must fit, wide and narrow. No script, style or address of any of them
may leave an error in the console: a script that does not parse does. THRONG_PICTURES: a folder to keep screenshots in."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../programs'))
from chromium import Chromium, Page  # noqa: E402
from program import SOURCE, Skip, at_end, command, main, read, throng, write  # noqa: E402
from serve_client import Crowd, comes  # noqa: E402

PICTURES = os.environ.get('THRONG_PICTURES')
MODEL = 'synthetic:joints=8'
TOKEN = 'a-token-of-the-test-1'
WIDE, NARROW = 1280, 400


def need_chromium():
    if not shutil.which('chromium'):
        raise Skip('no chromium')


def open_page():
    browser = Chromium(shutil.which('chromium'))
    at_end.callback(browser.close)
    return Page(browser)


def serve(arguments):
    server = Crowd(f'--model {MODEL} {arguments}')
    return server, f'http://127.0.0.1:{server.address[1]}/'


def check(holds, what):
    assert holds, what


def looks_right(page, name):
    """It fits, and nothing went wrong in it."""
    check(page.value('document.documentElement.scrollWidth <= innerWidth'), f'{name} scrolls sideways')
    check(page.value('document.body.innerText.length > 200'), f'{name} is empty')
    errors = [error for error in page.errors() if '(Service Unavailable)' not in error or '/api/picture.png' not in error]
    check(not errors, f'{name}: the console says {errors}')  # a run that begins ends a picture that was asked for
    if PICTURES:
        page.picture(os.path.join(PICTURES, f'{name}.png'))


CHARACTERS = '''document.querySelector("#statistics div")?.innerText.split("\\n")[1]'''
SETTING = '''document.querySelector('#controls [name=%s]').value'''


def shows_the_state(page, server):
    page.until('document.querySelector("#link").textContent === "connected"', 'the page is connected')
    now = server.state()
    page.until(f'{CHARACTERS} === "{now["crowd"]["characters"]}"', 'it shows how many characters there are')
    for name in ('count', 'threads', 'rate_hz'):
        shown = page.until(SETTING % name, f'it shows {name}')
        check(float(shown) == now['settings'][name], f'it shows {name} {shown}, the API {now["settings"][name]}')
    # The ticks that were due, "0 % of 25 due in total" or "of 1.2 k", grow with those of the API.
    due = ('(m => m ? m[1] * (m[2] ? 1000 : 1) : 0)'
           '(document.querySelector("#statistics").innerText.match(/of ([0-9.]+)\\s?(k?) due/))')
    first = page.until(due, 'it shows ticks')
    page.until(f'{due} > {first}', 'the ticks grow')
    ticks = server.state()['ticks']
    check(page.value(due) * 0.95 <= ticks['total'] + ticks['missed_total'], 'ticks to come')


def changes_the_count(page, server):
    page.value('''(input => { input.value = 70; input.dispatchEvent(new Event("input", {bubbles: true})); })
        (document.querySelector("#controls [name=count]"))''')
    page.until('!document.querySelector("#apply").disabled', 'a change can be applied')
    page.value('document.querySelector("#apply").click()')
    check(comes(lambda: server.state()['crowd']['characters'] == 70), 'the API has the count of the page')
    page.until(f'{CHARACTERS} === "70"', 'the page has the new count')


def changes_the_count_by_keys(page, server):
    focused = 'document.activeElement.name ?? ""'
    for _ in range(20):
        page.press('Tab')
        if page.value(focused) == 'count':
            break
    check(page.value(focused) == 'count', 'Tab reaches the count')
    check(page.value('getComputedStyle(document.activeElement).outlineStyle !== "none"'), 'one sees where the focus is')
    page.value('document.activeElement.select()')
    for digit in '90':
        page.press(digit, digit)
    page.press('Enter', '\r')
    check(comes(lambda: server.state()['crowd']['characters'] == 90), 'Enter applies the count')


# It shows one by itself, as the few characters leave the workers idle.
def draws_a_picture(page):
    page.until('document.querySelector("#live").checked', 'a picture is asked for')
    page.until('document.querySelector("#picture img").naturalWidth > 0 && !document.querySelector("#picture img").hidden',
               'a picture appears')
    page.value("""(select => { select.value = "plaza"; select.dispatchEvent(new Event("change")); })
        (document.querySelector("#scene"))""")
    page.until('performance.getEntriesByType("resource").some(got => got.name.endsWith("scene=plaza"))',
               'another scene is asked for')
    page.value('document.querySelector("#live").click()')


def runs_a_measurement(page):
    page.value('''(form => {
        form.elements.count.value = 20; form.elements.threads.value = "1"; form.elements.frames.value = 2;
        form.elements.repetitions.value = 1;
        document.querySelector("#kind").value = "scale";
        document.querySelector("#start").click();
    })(document.querySelector("#runs form"))''')
    page.until('document.querySelector("#runs tbody tr")?.innerText.includes("done")', 'the run ends')
    page.value('''[...document.querySelectorAll("#runs tbody button")].find(b => b.textContent === "Report").click()''')
    page.until('document.querySelector("dialog").open && document.querySelector("iframe").srcdoc.includes("</html>")',
               'its report is shown')
    check(page.value('document.querySelector("iframe").sandbox.value') == 'allow-scripts', 'the report has no other rights')
    page.until(f'{DRAWN} > 3', 'its plots are drawn in the frame', in_frame=True)
    check(page.value('try { parent.document } catch (error) { error.name }', in_frame=True) == 'SecurityError',
          'the report cannot reach the page')
    page.value('document.querySelector("#close").click()')


def test_the_page_asks_for_a_token():
    page = open_page()
    write('token', TOKEN)
    server, address = serve('--count 10 --token-file token')
    page.open(address, expected='401 (Unauthorized)')
    page.until('!document.querySelector("#token").hidden', 'it asks for a token')
    for token, then in (('wrong-token-of-16-letters', 'document.querySelector("#token [role=alert]").textContent.includes("rejected")'),
                        (TOKEN, 'document.querySelector("#link").textContent === "connected"')):
        page.value(f'''document.querySelector("#token-text").value = "{token}";
            document.querySelector("#token form button").click()''')
        page.until(then, f'the token {token} leads to {then}')
    check(not page.errors(), f'with a token the console says {page.errors()}')
    server.stop()


# How many plots have something drawn in them; -1 if one has not.
DRAWN = '''(all => all.every(canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0))
    ? all.length : -1)([...document.querySelectorAll("canvas")])'''
# {title: [points of each legend entry]}
POINTS = '''Object.fromEntries([...document.querySelectorAll("figure:has(canvas)")].map(figure => [figure.querySelector("h3").textContent,
    Object.fromEntries(Chart.getChart(figure.querySelector("canvas")).data.datasets.map(set => [set.label, set.data.length]))]))'''
# On one CPU two threads are too many to explain what they lose.
ALONE = len(os.sched_getaffinity(0)) == 1
DOCUMENT = 'JSON.parse(document.querySelector("#result").textContent)'


def has_the_points(page, name):
    """The plots have as many as the document."""
    points, document = page.value(POINTS), page.value(DOCUMENT)
    rows = [row for row in document.get('benchmarks', []) if row.get('aggregate_name') == 'median']
    if name == 'bench1':
        wanted = {'Poses: from keys to palettes': len(rows), 'Error against cost': len(rows) - 2}
        found = {title: sum(points[title].values()) for title in wanted}
    elif name == 'scale':
        scaling = document['scaling']
        known = len([point for point in scaling['curves'][0]['points'] if point['speed_up'] is not None])  # what can be
        wanted = {'Speed-up': known, 'Efficiency': known, 'Memory bandwidth': len(scaling['memory_bytes_per_s']),
                  'Ablations': 6, 'Losses': 5, 'One frame, chunk by chunk': len([row for row in document['benchmarks'] if row.get('trace')][-1]['trace'])}
        if ALONE:
            del wanted['Losses'], wanted['Ablations']
        found = {title: sum(points[title].values()) if title in ('Losses', 'One frame, chunk by chunk') else next(iter(points[title].values()))
                 for title in wanted}
    elif name == 'stress':
        frames = '''Chart.getChart(document.querySelector("canvas")).data.datasets.flatMap(set => set.data).reduce((sum, p) => sum + p.y, 0)'''
        beyond = '''Number(document.querySelector("figcaption p").textContent.match(/([0-9]+) more are beyond/)?.[1] ?? 0)'''
        wanted = len([row for row in document['benchmarks'] if row['run_type'] == 'iteration'])
        found = page.value(frames) + page.value(beyond)
    else:
        wanted = len([entry for entry in document['entries'] if entry['median_change'] is not None])
        found = sum(sum(sets.values()) for title, sets in points.items() if title != 'What changed')
    check(found == wanted, f'{name} has the points {found}, not {wanted}')


def is_drawn(page, name):
    plots = {'bench1': 2, 'scale': 3 if ALONE else 8}.get(name, 1)
    page.until(f'{DRAWN} >= {plots}', f'{name}: all plots are drawn')
    check(page.value('[...document.querySelectorAll("canvas")].every(c => c.ariaLabel.length > 20)'), f'{name}: plots have texts')
    check(page.value('[...document.querySelectorAll("table")].every(t => t.querySelector("thead th") && t.querySelector("tbody th"))'),
          f'{name}: tables have headings')
    check(page.value('document.querySelector(".headline").textContent.length > 15'), f'{name} says what came out')
    has_the_points(page, name)


def is_plain_without_scripts(page, address, name):
    page.command('Emulation.setScriptExecutionDisabled', value=True)
    page.open(address)
    check(page.value('document.querySelectorAll("canvas").length') == 0, f'{name} runs a script')
    check(page.value('document.querySelectorAll("#report tbody tr").length') > 0, f'{name} has tables without scripts')
    page.command('Emulation.setScriptExecutionDisabled', value=False)


def runs_no_other_script(page):
    """A report whose script was changed draws nothing."""
    write('forged.html', read('scale.html').replace("'use strict';\nconst result", "'use strict'; \nconst result"))
    page.open(f'file://{os.getcwd()}/forged.html', expected='Content Security Policy')
    check(page.value('document.querySelectorAll("canvas").length') == 0, 'a forged script runs')
    check(page.value('document.querySelector("#report table") !== null'), 'what is no script stays')


def is_served(page, server, address):
    """A report at its own address runs its script, without rights."""
    page.open(f'{address}api/runs/1/report')
    page.until(f'{DRAWN} > 3', 'a served report is drawn')
    check(page.value('origin') == 'null', 'it has no origin')
    check(page.value(DOCUMENT) == server.document('/api/runs/1/result'), 'it has the document')


INK = 'Chart.getChart(document.querySelector("canvas")).options.plugins.legend.labels.color'


def is_a_report(page, address, name):
    """In the dark and narrow, and then in the light and wide."""
    ink = None
    for width, dark in ((NARROW, True), (WIDE, False)):
        page.look(width, dark)
        if dark:
            page.open(address)
        elif ink:
            page.until(f'{INK} !== "{ink}"', 'plots are drawn anew in the light')
        looks_right(page, f'{name}-{width}')
        if name != 'results':
            ink = page.value(INK)
            is_drawn(page, name)
    if name != 'results':
        check('alert(1)' in json.dumps(page.value(DOCUMENT)) or name == 'compare', f'{name} has the name of the model')
        check(page.value('document.querySelectorAll("script").length') == 2, f'{name} has no other script')
        is_plain_without_scripts(page, address, name)


def write_reports():
    """A page of each command that writes one, of a model whose name and path are markup."""
    os.mkdir('m<')
    os.makedirs('results/this')
    model = 'm</script><!--<script>alert(1)<b>.glb'
    shutil.copy(f'{SOURCE}/tests/data/morph.glb', model)
    small = f"--model '{model}' --count 20 --frames 2 --repetitions"
    for line in (f"bench --filter '^(pose/(scalar|tutorial)|limit)' {small} 2 --out 1.json --out bench1.html",
                 f"bench --filter '^(pose/(scalar|tutorial)|limit)' {small} 2 --out 2.json",
                 f'scale --threads 1,2 {small} 1 --out scale.html',
                 f"stress --model '{model}' --count 20 --threads 1 --frames 299 --budget-ms 1 --out stress.html",
                 'compare 1.json 2.json --force --out compare.html',
                 'bench --filter ^throng-1/human_1k --repetitions 2 --frames 1 --out results/this/throng-1.json'):
        done = throng(line)
        check(os.path.exists(line.rpartition(' ')[2]), f'{line}: {done.err}')
    write('results.html', command(f'{SOURCE}/scripts/results-page', 'results').out)
    return ['bench1', 'scale', 'stress', 'compare', 'results']


def test_the_page_of_a_server():
    page = open_page()
    server, address = serve('--count 50 --threads 1 --rate 20')
    for width, dark in ((WIDE, False), (NARROW, True)):
        page.look(width, dark)
        page.open(address)
        shows_the_state(page, server)
        if width == WIDE:
            changes_the_count(page, server)
            draws_a_picture(page)
            runs_a_measurement(page)
        else:
            changes_the_count_by_keys(page, server)
        looks_right(page, f'page-{width}')
    page.look(WIDE, False)
    is_served(page, server, address)
    server.stop()


def test_reports():
    page = open_page()
    for name in write_reports():
        is_a_report(page, f'file://{os.getcwd()}/{name}.html', name)
    runs_no_other_script(page)


main(globals(), need=need_chromium)
