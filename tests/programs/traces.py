"""Traces as --trace writes them: whether they are what viewers want, and what is in them."""
from program import parse, read

ARGUMENTS = {'chunk': {'begin', 'end'}, 'frame': {'frame'}, 'stage': set(), 'counter': {'value'}}  # of a category


class Trace:
    """A file, which is checked. text: all of it."""

    def __init__(self, path):
        self.text = read(path)
        trace = parse(self.text)
        self.events = trace.pop('traceEvents')
        other = trace.pop('otherData')
        assert trace == {'displayTimeUnit': 'ns'} and other['producer'].startswith('throng '), trace
        self.processes = {}
        last_us = 0
        for event in self.events:
            check_fields(event)
            if event['ph'] == 'M':
                assert last_us == 0, 'names come first'
                if event['name'] == 'process_name':
                    self.processes.setdefault(event['pid'], event['args']['name'])
                if event['name'] == 'thread_name':
                    self.check_nesting(event['tid'])
                continue
            assert last_us <= event['ts'] <= other['wall_us'], event
            last_us = event['ts']

    def check_nesting(self, tid):
        """Ascending times make it enough to look at what is still under way."""
        ends = []
        for span in (event for event in self.spans() if event['tid'] == tid):
            while ends and ends[-1] < span['ts'] + 5e-4:
                ends.pop()
            assert not ends or end_of(span) < ends[-1] + 5e-4, f'{span} ends after what it is in: {ends}'
            ends.append(end_of(span))

    def spans(self, category=None, name=None, process=None):
        """Those of a category, of a name, and of a process with that name: of any where it is None."""
        return [event for event in self.events if event['ph'] == 'X' and category in (None, event['cat']) and
                name in (None, event['name']) and process in (None, self.processes.get(event['pid']))]

    def count(self, category=None, name=None, process=None):
        return len(self.spans(category, name, process))

    def us(self, category=None, name=None, process=None):
        return sum(span['dur'] for span in self.spans(category, name, process))

    def bare_frames(self):
        """Frames without a stage on their own thread."""
        stages = self.spans('stage')
        return [frame for frame in self.spans('frame')
                if not any(stage['tid'] == frame['tid'] and frame['ts'] <= stage['ts'] < end_of(frame) for stage in stages)]


def end_of(span):
    return span['ts'] + span['dur']


def check_fields(event):
    assert isinstance(event['pid'], int) and isinstance(event['tid'], int) and event['name'], event
    if event['ph'] == 'M':
        names, kinds, fields = {'sort_index' if 'sort_index' in event['name'] else 'name'}, (int, float, str), 4
    else:
        names, kinds, fields = ARGUMENTS[event['cat']], (int, float), 7 if event['ph'] == 'X' else 6
        assert event['ph'] == ('C' if event['cat'] == 'counter' else 'X') and event.get('dur', 0) >= 0, event
    arguments = event.get('args', {})
    assert set(arguments) == names and all(isinstance(value, kinds) for value in arguments.values()), event
    assert len(event) == fields + bool(names), event
