x = { 'a':1 }
import sys, os
import json
